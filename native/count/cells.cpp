#include "count/cells.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace naively {
namespace {

// sum = a + b; returns false if that does not fit.
bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
    using limits = std::numeric_limits<std::int64_t>;
    if ((b > 0 && a > limits::max() - b) || (b < 0 && a < limits::min() - b)) return false;
    sum = a + b;
    return true;
}

bool add(const FixedPoint& a, const FixedPoint& b, FixedPoint& sum) { return FixedPoint::add(a, b, sum); }

bool negate(std::int64_t a, std::int64_t& b) {
    if (a == std::numeric_limits<std::int64_t>::min()) return false;
    b = -a;
    return true;
}

bool negate(const FixedPoint& a, FixedPoint& b) {
    const bool below = a.negative();
    b = -a;
    return !(below && b.negative());
}

bool negative(std::int64_t value) { return value < 0; }
bool negative(const FixedPoint& value) { return value.negative(); }

// The first position from `from` on whose feature is at least `wanted`. The search starts where the feature would be if
// features were spread evenly, and widens from there: it touches few places, which matters if they are not in the
// cache.
std::size_t first_not_below(const std::int64_t* feature, std::size_t from, std::size_t size, std::int64_t wanted) {
    if (from >= size || feature[from] >= wanted) return from;
    if (feature[size - 1] < wanted) return size;
    const double share =
        static_cast<double>(wanted - feature[from]) / static_cast<double>(feature[size - 1] - feature[from]);
    std::size_t low = from, high = size - 1;  // feature[low] < wanted <= feature[high]
    const std::size_t guess = low + static_cast<std::size_t>(share * static_cast<double>(high - low));
    if (guess > low && guess < high) {
        if (feature[guess] < wanted) {
            low = guess;
            for (std::size_t step = 8; low + step < high; step *= 2) {
                if (feature[low + step] >= wanted) {
                    high = low + step;
                    break;
                }
                low += step;
            }
        } else {
            high = guess;
            for (std::size_t step = 8; low + step < high; step *= 2) {
                if (feature[high - step] < wanted) {
                    low = high - step;
                    break;
                }
                high -= step;
            }
        }
    }
    return static_cast<std::size_t>(std::lower_bound(feature + low + 1, feature + high, wanted) - feature);
}

// Cells from entries in any order: equal pairs are added up, and cells of zeros are left out.
Cells<std::int64_t> combine(const std::int64_t* feature, const std::int32_t* klass, const std::int64_t* value,
                            std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return feature[a] != feature[b] ? feature[a] < feature[b] : klass[a] < klass[b];
    });
    Cells<std::int64_t> result;
    for (std::size_t i = 0; i < count;) {
        const std::int64_t f = feature[order[i]];
        const std::int32_t c = klass[order[i]];
        std::int64_t sum = 0;
        for (; i < count && feature[order[i]] == f && klass[order[i]] == c; ++i)
            if (!add(sum, value[order[i]], sum)) throw std::overflow_error("a count grew beyond what 64 bits hold");
        if (sum == 0) continue;
        result.feature.push_back(f);
        result.klass.push_back(c);
        result.value.push_back(sum);
    }
    return result;
}

}  // namespace

template <class T>
SumFault sum_cells(const CellsView<T>& left, const CellsView<T>& right, std::size_t planes, bool subtract,
                   Cells<T>& result, std::size_t& at) {
    std::vector<std::vector<T>> value(planes);
    result.feature.reserve(left.size + right.size);
    result.klass.reserve(left.size + right.size);
    for (auto& plane : value) plane.reserve(left.size + right.size);

    std::vector<T> sum(planes);
    const auto keep = [&](std::int64_t feature, std::int32_t klass) {
        bool any = false;
        for (const T& v : sum) any = any || v != T{};
        if (!any) return;
        result.feature.push_back(feature);
        result.klass.push_back(klass);
        for (std::size_t p = 0; p < planes; ++p) value[p].push_back(sum[p]);
    };

    std::size_t i = 0, j = 0;
    while (i < left.size || j < right.size) {
        bool from_left = j >= right.size, from_right = i >= left.size;
        if (!from_left && !from_right) {
            const auto fa = left.feature[i], fb = right.feature[j];
            const auto ca = left.klass[i], cb = right.klass[j];
            from_left = fa < fb || (fa == fb && ca <= cb);
            from_right = fb < fa || (fa == fb && cb <= ca);
        }
        for (std::size_t p = 0; p < planes; ++p) {
            const T a = from_left ? left.value[p * left.size + i] : T{};
            T b = from_right ? right.value[p * right.size + j] : T{};
            at = j;
            if (subtract && !negate(b, b)) return SumFault::overflow;
            if (!add(a, b, sum[p])) return SumFault::overflow;
            if (subtract && from_right && negative(sum[p])) return SumFault::negative;
        }
        keep(from_left ? left.feature[i] : right.feature[j], from_left ? left.klass[i] : right.klass[j]);
        i += from_left;
        j += from_right;
    }
    result.value.reserve(result.feature.size() * planes);
    for (const auto& plane : value) result.value.insert(result.value.end(), plane.begin(), plane.end());
    return SumFault::none;
}

template <class T>
std::vector<T> look_up(const CellsView<T>& cells, std::size_t planes, const std::int64_t* feature,
                       const std::int32_t* klass, std::size_t count) {
    std::vector<T> found(planes * count, T{});
    std::size_t from = 0;
    for (std::size_t i = 0; i < count; ++i) {
        from = first_not_below(cells.feature, from, cells.size, feature[i]);
        std::size_t at = from;
        while (at < cells.size && cells.feature[at] == feature[i] && cells.klass[at] < klass[i]) ++at;
        if (at >= cells.size || cells.feature[at] != feature[i] || cells.klass[at] != klass[i]) continue;
        for (std::size_t p = 0; p < planes; ++p) found[p * count + i] = cells.value[p * cells.size + at];
    }
    return found;
}

template std::vector<std::int64_t> look_up<std::int64_t>(const CellsView<std::int64_t>&, std::size_t,
                                                         const std::int64_t*, const std::int32_t*, std::size_t);
template std::vector<FixedPoint> look_up<FixedPoint>(const CellsView<FixedPoint>&, std::size_t, const std::int64_t*,
                                                     const std::int32_t*, std::size_t);

template <class T>
Cells<T> gather(const std::vector<CellsView<T>>& layers, std::size_t planes, const std::int64_t* wanted,
                std::size_t count) {
    struct Found {
        std::int32_t klass;
        std::size_t layer, at;
    };
    Cells<T> result;
    std::vector<std::vector<T>> value(planes);
    std::vector<std::size_t> from(layers.size(), 0);
    std::vector<Found> found;
    for (std::size_t i = 0; i < count; ++i) {
        found.clear();
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const CellsView<T>& cells = layers[l];
            std::size_t at = first_not_below(cells.feature, from[l], cells.size, wanted[i]);
            for (; at < cells.size && cells.feature[at] == wanted[i]; ++at) found.push_back({cells.klass[at], l, at});
            from[l] = at;
        }
        std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.klass < b.klass; });
        for (std::size_t f = 0; f < found.size();) {
            const std::int32_t klass = found[f].klass;
            std::vector<T> sum(planes, T{});
            for (; f < found.size() && found[f].klass == klass; ++f) {
                const CellsView<T>& cells = layers[found[f].layer];
                for (std::size_t p = 0; p < planes; ++p)
                    if (!add(sum[p], cells.value[p * cells.size + found[f].at], sum[p]))
                        throw std::overflow_error("a count grew beyond what 64 bits hold");
            }
            if (std::all_of(sum.begin(), sum.end(), [](const T& v) { return v == T{}; })) continue;
            result.feature.push_back(static_cast<std::int64_t>(i));
            result.klass.push_back(klass);
            for (std::size_t p = 0; p < planes; ++p) value[p].push_back(sum[p]);
        }
    }
    for (const auto& plane : value) result.value.insert(result.value.end(), plane.begin(), plane.end());
    return result;
}

template Cells<std::int64_t> gather<std::int64_t>(const std::vector<CellsView<std::int64_t>>&, std::size_t,
                                                  const std::int64_t*, std::size_t);
template Cells<FixedPoint> gather<FixedPoint>(const std::vector<CellsView<FixedPoint>>&, std::size_t,
                                              const std::int64_t*, std::size_t);

Cells<std::int64_t> histogram_change(const std::int64_t* before, const std::int64_t* added, const std::int32_t* klass,
                                     std::size_t count) {
    std::vector<std::int64_t> kind, step;
    std::vector<std::int32_t> of;
    const auto note = [&](std::int64_t seen, std::int64_t missing, std::size_t i, std::int64_t by) {
        if (seen < 0 || missing < 0 || seen >> 31 || missing >> 31)
            throw std::overflow_error("a count is out of range");
        if (seen == 0 && missing == 0) return;
        kind.push_back((seen << 31) | missing);
        of.push_back(klass[i]);
        step.push_back(by);
    };
    for (std::size_t i = 0; i < count; ++i) {
        note(before[i], before[count + i], i, -1);
        std::int64_t seen, missing;
        if (!add(before[i], added[i], seen) || !add(before[count + i], added[count + i], missing))
            throw std::overflow_error("a count is out of range");
        note(seen, missing, i, 1);
    }
    return combine(kind.data(), of.data(), step.data(), kind.size());
}

template SumFault sum_cells<std::int64_t>(const CellsView<std::int64_t>&, const CellsView<std::int64_t>&, std::size_t,
                                          bool, Cells<std::int64_t>&, std::size_t&);
template SumFault sum_cells<FixedPoint>(const CellsView<FixedPoint>&, const CellsView<FixedPoint>&, std::size_t, bool,
                                        Cells<FixedPoint>&, std::size_t&);

namespace {

struct Group {
    std::int64_t feature;
    std::size_t begin, end;
};

[[noreturn]] void became_one() { throw std::invalid_argument("two features have become one"); }

// Sort groups by feature, by counting if the features lie close together.
std::vector<Group> in_order(std::vector<Group> groups) {
    std::int64_t least = 0, most = -1;
    for (const Group& group : groups) {
        if (most < least) least = most = group.feature;
        least = std::min(least, group.feature);
        most = std::max(most, group.feature);
    }
    const std::uint64_t range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    if (groups.empty() || range >= 16 * static_cast<std::uint64_t>(groups.size())) {
        std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.feature < b.feature; });
        for (std::size_t g = 1; g < groups.size(); ++g)
            if (groups[g].feature == groups[g - 1].feature) became_one();
        return groups;
    }
    std::vector<std::size_t> at(static_cast<std::size_t>(range) + 1, groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::size_t& place = at[static_cast<std::size_t>(groups[g].feature - least)];
        if (place < groups.size()) became_one();
        place = g;
    }
    std::vector<Group> sorted;
    sorted.reserve(groups.size());
    for (const std::size_t g : at)
        if (g < groups.size()) sorted.push_back(groups[g]);
    return sorted;
}

}  // namespace

template <class T>
Cells<T> regrouped(const CellsView<T>& cells, std::size_t planes) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < cells.size; ++i) {
        if (i == 0 || cells.feature[i] != cells.feature[i - 1]) groups.push_back({cells.feature[i], i, i});
        groups.back().end = i + 1;
    }
    Cells<T> result;
    result.feature.reserve(cells.size);
    result.klass.reserve(cells.size);
    result.value.resize(planes * cells.size);
    for (const Group& group : in_order(std::move(groups))) {
        const std::size_t to = result.feature.size();
        for (std::size_t p = 0; p < planes; ++p)
            std::copy(cells.value + p * cells.size + group.begin, cells.value + p * cells.size + group.end,
                      result.value.data() + p * cells.size + to);
        result.feature.insert(result.feature.end(), group.end - group.begin, group.feature);
        result.klass.insert(result.klass.end(), cells.klass + group.begin, cells.klass + group.end);
    }
    return result;
}

template Cells<std::int64_t> regrouped(const CellsView<std::int64_t>&, std::size_t);
template Cells<FixedPoint> regrouped(const CellsView<FixedPoint>&, std::size_t);

namespace {

// A whole number in two halves, whose sums do not overflow.
struct Halves {
    std::int64_t high = 0;
    std::uint64_t low = 0;
    void add(std::int64_t value) {
        high += value >> 32;
        low += static_cast<std::uint64_t>(value) & 0xffffffffu;
    }
    FixedPoint sum(int bits) const {
        const std::int64_t whole = high + static_cast<std::int64_t>(low >> 32);  // in units of 2^32
        const std::uint64_t rest = low & 0xffffffffu;
        if (bits == 32) return {rest << 32, whole};
        if (whole >= (std::int64_t{1} << 31) || whole < -(std::int64_t{1} << 31)) too_large();
        return FixedPoint{static_cast<std::int64_t>((static_cast<std::uint64_t>(whole) << 32) | rest)};
    }
};

struct Whole {
    FixedPoint total;
    void add(const FixedPoint& value) { total += value; }
    FixedPoint sum(int) const { return total; }
};

}  // namespace

template <class T>
std::vector<FixedPoint> totals(const CellsView<T>& cells, std::size_t planes, std::size_t classes) {
    using Sum = std::conditional_t<std::is_same_v<T, FixedPoint>, Whole, Halves>;
    std::vector<FixedPoint> result(planes * classes);
    std::vector<Sum> sums(classes);
    for (std::size_t p = 0; p < planes; ++p) {
        std::fill(sums.begin(), sums.end(), Sum{});
        const T* value = cells.value + p * cells.size;
        for (std::size_t i = 0; i < cells.size; ++i) sums[static_cast<std::size_t>(cells.klass[i])].add(value[i]);
        for (std::size_t c = 0; c < classes; ++c) result[p * classes + c] = sums[c].sum(bits_of_plane(p, planes));
    }
    return result;
}

template std::vector<FixedPoint> totals(const CellsView<std::int64_t>&, std::size_t, std::size_t);
template std::vector<FixedPoint> totals(const CellsView<FixedPoint>&, std::size_t, std::size_t);

}  // namespace naively
