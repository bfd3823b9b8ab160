#include "count/cell_sum.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/wide.hpp"

namespace naively {
namespace {

// The sum of two signed numbers as bits. If both have the same sign and the sum has another, it did not fit.
std::uint64_t added(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    if ((((a ^ sum) & (b ^ sum)) >> 63) != 0) throw std::overflow_error("a count grew beyond what 64 bits hold");
    return sum;
}

}  // namespace

void CellSum::add(const CellsView<std::int64_t>& cells) {
    const std::size_t begin = waiting_.size();
    waiting_.resize(begin + cells.size * width_);
    std::uint64_t* to = waiting_.data() + begin;
    for (std::size_t i = 0; i < cells.size; ++i) {
        const auto feature = static_cast<std::uint64_t>(cells.feature[i]);
        *to++ = (feature << 32) | static_cast<std::uint32_t>(cells.klass[i]);
        for (std::size_t p = 0; p + 1 < width_; ++p)
            *to++ = static_cast<std::uint64_t>(cells.value[p * cells.size + i]);
    }
    if (waiting() >= std::max(fewest, sorted_.size() / width_ / 2)) settle();
}

// The waiting cells in the order of their features; cells of one feature keep their order.
Large<std::uint32_t> CellSum::order() const {
    const std::size_t n_waiting = waiting();
    if (n_waiting >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many cells at once");
    Large<std::uint32_t> order(n_waiting);
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < n_waiting; ++i) largest = std::max(largest, feature_at(i));
    if (largest / 16 > n_waiting) {  // features are far apart
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return feature_at(a) < feature_at(b); });
        return order;
    }
    Large<std::uint32_t> next(static_cast<std::size_t>(largest) + 2, 0);
    for (std::size_t i = 0; i < n_waiting; ++i) ++next[feature_at(i) + std::size_t{1}];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t i = 0; i < n_waiting; ++i) order[next[feature_at(i)]++] = static_cast<std::uint32_t>(i);
    return order;
}

void CellSum::settle() {
    constexpr std::size_t prefetch_distance = 16;
    const std::size_t n_waiting = waiting(), before = sorted_.size() / width_;
    const Large<std::uint32_t> by_feature = order();
    Large<std::uint64_t>& result = spare_;
    result.clear();
    const std::size_t room = sorted_.size() + waiting_.size();
    if (result.capacity() < room) result.reserve(2 * room);
    std::size_t from = 0;    // the sorted cells up to here are in the result
    std::vector<Cell> same;  // the waiting cells of one feature
    for (std::size_t i = 0; i < n_waiting;) {
        const std::uint32_t feature = feature_at(by_feature[i]);
        same.clear();
        for (; i < n_waiting && feature_at(by_feature[i]) == feature; ++i) {
            if (i + prefetch_distance < n_waiting) NAIVELY_PREFETCH(at(by_feature[i + prefetch_distance]));
            same.push_back(at(by_feature[i]));
        }
        const auto by_class = [](Cell a, Cell b) { return *a < *b; };
        if (!std::is_sorted(same.begin(), same.end(), by_class)) std::stable_sort(same.begin(), same.end(), by_class);
        for (std::size_t s = 0; s < same.size();) {
            const std::uint64_t key = *same[s];
            std::size_t to = from;
            while (to < before && sorted_[to * width_] < key) ++to;
            const bool known = to < before && sorted_[to * width_] == key;
            to += known;
            result.insert(result.end(), sorted_.data() + from * width_, sorted_.data() + to * width_);
            from = to;
            if (!known) {
                result.insert(result.end(), same[s], same[s] + width_);
                ++s;
            }
            std::uint64_t* sum = result.data() + result.size() - width_;
            for (; s < same.size() && *same[s] == key; ++s)
                for (std::size_t p = 1; p < width_; ++p) sum[p] = added(sum[p], same[s][p]);
            if (std::all_of(sum + 1, sum + width_, [](std::uint64_t value) { return value == 0; }))
                result.resize(result.size() - width_);
        }
    }
    result.insert(result.end(), sorted_.data() + from * width_, sorted_.data() + sorted_.size());
    sorted_.swap(result);
    waiting_.clear();
}

Cells<std::int64_t> CellSum::take() {
    settle();
    Large<std::uint64_t>().swap(waiting_);
    Large<std::uint64_t>().swap(spare_);
    const std::size_t size = sorted_.size() / width_;
    Cells<std::int64_t> cells;
    cells.feature.reserve(size);
    cells.klass.reserve(size);
    cells.value.reserve(size * (width_ - 1));
    for (std::size_t i = 0; i < size; ++i) {
        cells.feature.push_back(static_cast<std::int64_t>(sorted_[i * width_] >> 32));
        cells.klass.push_back(static_cast<std::int32_t>(sorted_[i * width_] & 0xffffffff));
    }
    for (std::size_t p = 1; p < width_; ++p)
        for (std::size_t i = 0; i < size; ++i)
            cells.value.push_back(static_cast<std::int64_t>(sorted_[i * width_ + p]));
    Large<std::uint64_t>().swap(sorted_);
    return cells;
}

}  // namespace naively
