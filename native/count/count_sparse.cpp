#include <algorithm>

#include "base/parallel.hpp"
#include "count/count.hpp"

namespace naively {
namespace {

// Values of rows that weigh one each are added in doubles, which is exact while they are whole and not too many; other
// values are added in fixed point.
template <class Sum>
struct Entry {
    std::int64_t feature;
    std::int32_t klass;
    Sum value;
};

template <class Sum>
struct Counted {
    Cells<Sum> cells, missing;
    Fault fault;
    bool whole = true;  // true if all added values are whole
};

template <class Sum>
void append_sorted(std::vector<Entry<Sum>>& entries, Cells<Sum>& cells) {
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.feature != b.feature ? a.feature < b.feature : a.klass < b.klass;
    });
    for (std::size_t i = 0; i < entries.size();) {
        const Entry<Sum>& first = entries[i];
        Sum sum{};
        for (; i < entries.size() && entries[i].feature == first.feature && entries[i].klass == first.klass; ++i)
            sum += entries[i].value;
        cells.feature.push_back(first.feature);
        cells.klass.push_back(first.klass);
        cells.value.push_back(sum);
    }
}

// Call use(feature, value) for the entries of a row that add something.
template <class Sum, class T, class I, class Use>
NAIVELY_INLINE Fault add_row(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts, std::size_t i,
                             bool& whole, std::vector<Entry<Sum>>& missing, Use&& use) {
    const double weight = labels.weight_of(i);
    if (weight == 0.0) return {};
    const auto miss = [&](std::int64_t f) { missing.push_back({f, labels.klass[i], Sum(weight)}); };
    if constexpr (std::is_same_v<Sum, double>) {
        bool odd = false;
        const Fault fault = each_entry(
            rows, accepts, i,
            [&](std::int64_t f, double v) {
                if constexpr (std::is_floating_point_v<T>) odd |= v != std::floor(v);
                use(f, v);
            },
            miss);
        whole &= !odd;
        return fault;
    } else {
        const FixedPoint once(weight);
        return each_entry(
            rows, accepts, i,
            [&](std::int64_t f, double v) {
                const FixedPoint value = v == 1.0 ? once : FixedPoint(v * weight);
                if (!(value == FixedPoint{})) use(f, value);
            },
            miss);
    }
}

// For few entries among many features: sort them.
template <class Sum, class T, class I>
void count_by_sorting(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts,
                      std::vector<Entry<Sum>>& missing, Counted<Sum>& result) {
    std::vector<Entry<Sum>> entries;
    entries.reserve(rows.stored);
    for (std::size_t i = 0; i < rows.rows && !result.fault && result.whole; ++i)
        result.fault = add_row(rows, labels, accepts, i, result.whole, missing, [&](std::int64_t f, const Sum& value) {
            entries.push_back({f, labels.klass[i], value});
        });
    append_sorted(entries, result.cells);
}

template <class Sum>
struct ClassPart {
    std::vector<std::int32_t> feature;
    std::vector<Sum> value;
    std::vector<Entry<Sum>> missing;
    Fault fault;
    bool whole = true;
};

// Add the rows of one class after another to one accumulator as wide as the features; then order by feature.
template <class Sum, class T, class I>
void count_by_class(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts, int threads,
                    std::vector<Entry<Sum>>& missing, Counted<Sum>& result) {
    std::vector<std::size_t> start(labels.classes + 1, 0), order(rows.rows);
    for (std::size_t i = 0; i < rows.rows; ++i) ++start[static_cast<std::size_t>(labels.klass[i]) + 1];
    for (std::size_t c = 0; c < labels.classes; ++c) start[c + 1] += start[c];
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < rows.rows; ++i) order[next[static_cast<std::size_t>(labels.klass[i])]++] = i;

    std::vector<ClassPart<Sum>> part(labels.classes);
    const std::size_t groups = std::min<std::size_t>(labels.classes, 16);
    for_each_task(groups, worth_threads(threads, rows.stored), [&](std::size_t g) {
        std::vector<Sum> sum(rows.columns);
        for (std::size_t c = labels.classes * g / groups; c < labels.classes * (g + 1) / groups; ++c) {
            ClassPart<Sum>& mine = part[c];
            for (std::size_t r = start[c]; r < start[c + 1] && !mine.fault && mine.whole; ++r)
                mine.fault = add_row(rows, labels, accepts, order[r], mine.whole, mine.missing,
                                     [&](std::int64_t f, const Sum& value) {
                                         Sum& cell = sum[static_cast<std::size_t>(f)];
                                         if (cell == Sum{}) mine.feature.push_back(static_cast<std::int32_t>(f));
                                         cell += value;
                                     });
            mine.value.reserve(mine.feature.size());
            for (const std::int32_t f : mine.feature) {
                mine.value.push_back(sum[static_cast<std::size_t>(f)]);
                sum[static_cast<std::size_t>(f)] = Sum{};
            }
        }
    });

    std::vector<std::size_t> place(rows.columns + 1, 0);
    for (const ClassPart<Sum>& mine : part) {
        result.fault.keep_first(mine.fault);
        result.whole &= mine.whole;
        for (const std::int32_t f : mine.feature) ++place[static_cast<std::size_t>(f) + 1];
        missing.insert(missing.end(), mine.missing.begin(), mine.missing.end());
    }
    if (!result.whole) return;
    for (std::size_t f = 0; f < rows.columns; ++f) place[f + 1] += place[f];
    const std::size_t total = place[rows.columns];
    result.cells.feature.resize(total);
    result.cells.klass.resize(total);
    result.cells.value.resize(total);
    for (std::size_t c = 0; c < labels.classes; ++c) {
        for (std::size_t k = 0; k < part[c].feature.size(); ++k) {
            const std::size_t at = place[static_cast<std::size_t>(part[c].feature[k])]++;
            result.cells.feature[at] = part[c].feature[k];
            result.cells.klass[at] = static_cast<std::int32_t>(c);
            result.cells.value[at] = part[c].value[k];
        }
        part[c] = {};
    }
}

template <class Sum, class T, class I>
Counted<Sum> count_in(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts, int threads) {
    Counted<Sum> result;
    std::vector<Entry<Sum>> missing;
    // A touched accumulator differs from an untouched one only if all values are above zero; otherwise sort.
    const bool wide = rows.stored < rows.columns / 4 || accepts.low < 0.0 || rows.columns > 0x7fffffff;
    if (wide)
        count_by_sorting(rows, labels, accepts, missing, result);
    else
        count_by_class(rows, labels, accepts, threads, missing, result);
    append_sorted(missing, result.missing);
    return result;
}

// Convert sums to whole numbers; returns false if a sum is so large that it may have been rounded.
bool to_whole(Cells<double>&& from, Cells<std::int64_t>& to) {
    to.value.resize(from.value.size());
    for (std::size_t i = 0; i < from.value.size(); ++i) {
        if (!(std::fabs(from.value[i]) < largest_whole)) return false;
        to.value[i] = static_cast<std::int64_t>(from.value[i]);
    }
    to.feature = std::move(from.feature);
    to.klass = std::move(from.klass);
    return true;
}

}  // namespace

template <class T, class I>
SparseCount count_sparse(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts, int threads) {
    SparseCount result;
    if (!labels.weight) {
        Counted<double> counted = count_in<double>(rows, labels, accepts, threads);
        result.fault = counted.fault;
        if (counted.whole && (result.fault || (to_whole(std::move(counted.cells), result.cells) &&
                                               to_whole(std::move(counted.missing), result.missing))))
            return result;
    }
    Counted<FixedPoint> counted = count_in<FixedPoint>(rows, labels, accepts, threads);
    return {false, {}, {}, std::move(counted.cells), std::move(counted.missing), counted.fault};
}

#define NAIVELY_COUNT_SPARSE(T)                                                                       \
    template SparseCount count_sparse<T, std::int32_t>(const Sparse<T, std::int32_t>&, const Labels&, \
                                                       const ValueRange&, int);                       \
    template SparseCount count_sparse<T, std::int64_t>(const Sparse<T, std::int64_t>&, const Labels&, \
                                                       const ValueRange&, int);
NAIVELY_COUNT_SPARSE(double)
NAIVELY_COUNT_SPARSE(float)
NAIVELY_COUNT_SPARSE(std::int64_t)
NAIVELY_COUNT_SPARSE(std::int32_t)
NAIVELY_COUNT_SPARSE(std::uint8_t)
#undef NAIVELY_COUNT_SPARSE

}  // namespace naively
