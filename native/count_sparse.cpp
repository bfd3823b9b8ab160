#include <algorithm>

#include "count.hpp"
#include "parallel.hpp"

namespace naively {
namespace {

struct Entry {
    std::int64_t feature;
    std::int32_t klass;
    double value;
};

void append_sorted(std::vector<Entry>& entries, Cells<double>& cells) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.feature != b.feature ? a.feature < b.feature : a.klass < b.klass;
    });
    for (std::size_t i = 0; i < entries.size();) {
        const Entry& first = entries[i];
        double sum = 0.0;
        for (; i < entries.size() && entries[i].feature == first.feature && entries[i].klass == first.klass; ++i)
            sum += entries[i].value;
        cells.feature.push_back(first.feature);
        cells.klass.push_back(first.klass);
        cells.value.push_back(sum);
    }
}

// Few entries for many features: sort them.
template <class T, class I>
void count_by_sorting(const Sparse<T, I>& rows, const Labels& labels, const Accepts& accepts,
                      std::vector<Entry>& missing, SparseCount& result) {
    std::vector<Entry> entries;
    entries.reserve(rows.stored);
    for (std::size_t i = 0; i < rows.rows && !result.fault; ++i) {
        const double weight = labels.weight_of(i);
        if (weight == 0.0) continue;
        const std::int32_t klass = labels.klass[i];
        result.fault = each_entry(
            rows, accepts, i,
            [&](std::int64_t f, double v) {
                if (v * weight != 0.0) entries.push_back({f, klass, v * weight});
            },
            [&](std::int64_t f) { missing.push_back({f, klass, weight}); });
    }
    append_sorted(entries, result.cells);
}

struct ClassPart {
    std::vector<std::int32_t> feature;
    std::vector<double> value;
    std::vector<Entry> missing;
    Fault fault;
};

// Rows of one class after another into one accumulator as wide as the features; then by feature.
template <class T, class I>
void count_by_class(const Sparse<T, I>& rows, const Labels& labels, const Accepts& accepts, int threads,
                    std::vector<Entry>& missing, SparseCount& result) {
    std::vector<std::size_t> start(labels.classes + 1, 0), order(rows.rows);
    for (std::size_t i = 0; i < rows.rows; ++i) ++start[static_cast<std::size_t>(labels.klass[i]) + 1];
    for (std::size_t c = 0; c < labels.classes; ++c) start[c + 1] += start[c];
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < rows.rows; ++i) order[next[static_cast<std::size_t>(labels.klass[i])]++] = i;

    std::vector<ClassPart> part(labels.classes);
    const std::size_t groups = std::min<std::size_t>(labels.classes, 16);
    for_each_task(groups, worth_threads(threads, rows.stored), [&](std::size_t g) {
        std::vector<double> sum(rows.columns, 0.0);
        for (std::size_t c = labels.classes * g / groups; c < labels.classes * (g + 1) / groups; ++c) {
            ClassPart& mine = part[c];
            const auto klass = static_cast<std::int32_t>(c);
            for (std::size_t r = start[c]; r < start[c + 1] && !mine.fault; ++r) {
                const double weight = labels.weight_of(order[r]);
                if (weight == 0.0) continue;
                mine.fault = each_entry(
                    rows, accepts, order[r],
                    [&](std::int64_t f, double v) {
                        if (v * weight == 0.0) return;  // too small to count
                        double& cell = sum[static_cast<std::size_t>(f)];
                        if (cell == 0.0) mine.feature.push_back(static_cast<std::int32_t>(f));
                        cell += v * weight;
                    },
                    [&](std::int64_t f) { mine.missing.push_back({f, klass, weight}); });
            }
            mine.value.reserve(mine.feature.size());
            for (const std::int32_t f : mine.feature) {
                mine.value.push_back(sum[static_cast<std::size_t>(f)]);
                sum[static_cast<std::size_t>(f)] = 0.0;
            }
        }
    });

    std::vector<std::size_t> place(rows.columns + 1, 0);
    for (const ClassPart& mine : part) {
        result.fault.keep_first(mine.fault);
        for (const std::int32_t f : mine.feature) ++place[static_cast<std::size_t>(f) + 1];
        missing.insert(missing.end(), mine.missing.begin(), mine.missing.end());
    }
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
        part[c] = ClassPart{};
    }
}

}  // namespace

template <class T, class I>
SparseCount count_sparse(const Sparse<T, I>& rows, const Labels& labels, const Accepts& accepts, int threads) {
    SparseCount result;
    std::vector<Entry> missing;
    // Values above zero keep a touched accumulator apart from an untouched one; others are sorted.
    const bool wide = rows.stored < rows.columns / 4 || accepts.low < 0.0 || rows.columns > 0x7fffffff;
    if (wide)
        count_by_sorting(rows, labels, accepts, missing, result);
    else
        count_by_class(rows, labels, accepts, threads, missing, result);
    append_sorted(missing, result.missing);
    return result;
}

#define NAIVELY_COUNT_SPARSE(T)                                                                                       \
    template SparseCount count_sparse<T, std::int32_t>(const Sparse<T, std::int32_t>&, const Labels&, const Accepts&, \
                                                       int);                                                          \
    template SparseCount count_sparse<T, std::int64_t>(const Sparse<T, std::int64_t>&, const Labels&, const Accepts&, \
                                                       int);
NAIVELY_COUNT_SPARSE(double)
NAIVELY_COUNT_SPARSE(float)
NAIVELY_COUNT_SPARSE(std::int64_t)
NAIVELY_COUNT_SPARSE(std::int32_t)
NAIVELY_COUNT_SPARSE(std::uint8_t)
#undef NAIVELY_COUNT_SPARSE

}  // namespace naively
