// KnownNumbers: a table from whole number to code that is built once and then only read.
// Numbers get codes in the order given; of equal numbers the first counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace naively {

// Numbers that lie close together are looked up in a table of all numbers between them, others by bisection.
class KnownNumbers {
   public:
    KnownNumbers(const std::int64_t* numbers, std::size_t size) : size_(size) {
        if (size == 0) return;
        const auto [low, high] = std::minmax_element(numbers, numbers + size);
        low_ = static_cast<std::uint64_t>(*low);
        const std::uint64_t apart = static_cast<std::uint64_t>(*high) - low_;
        if (apart < 8 * size + 4096) {
            table_.assign(apart + 1, static_cast<std::int32_t>(size));
            for (std::size_t i = size; i-- > 0;)
                table_[static_cast<std::uint64_t>(numbers[i]) - low_] = static_cast<std::int32_t>(i);
            return;
        }
        codes_.resize(size);
        std::iota(codes_.begin(), codes_.end(), 0);
        std::stable_sort(codes_.begin(), codes_.end(), [&](auto a, auto b) { return numbers[a] < numbers[b]; });
        for (const std::int32_t code : codes_) sorted_.push_back(numbers[code]);
    }

    std::size_t size() const { return size_; }

    // The code of a number, or `size()` if it has none.
    std::int32_t find(std::int64_t number) const {
        const std::uint64_t at = static_cast<std::uint64_t>(number) - low_;
        if (at < table_.size()) return table_[at];
        const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), number);
        if (place == sorted_.end() || *place != number) return static_cast<std::int32_t>(size_);
        return codes_[static_cast<std::size_t>(place - sorted_.begin())];
    }

   private:
    std::size_t size_;
    std::uint64_t low_ = 0;
    std::vector<std::int32_t> table_;
    std::vector<std::int64_t> sorted_;
    std::vector<std::int32_t> codes_;  // codes of the sorted numbers
};

}  // namespace naively
