#include "count.hpp"
#include "parallel.hpp"

namespace naively {
namespace {

// `odd` is set where a row holds something missing or not accepted; such rows are left to the caller.
template <class T>
NAIVELY_INLINE void add_rows(const Dense<T>& rows, const Labels& labels, const Accepts& accepts, std::size_t begin,
                             std::size_t end, double* sum, std::vector<std::size_t>& odd) {
    const std::size_t n = rows.columns;
    const Limits<T> limits(accepts);
    const T threshold = limits.threshold;
    for (std::size_t i = begin; i < end; ++i) {
        const T* NAIVELY_RESTRICT x = rows.row(i);
        if (!all_accepted(x, n, limits.low, limits.high)) {
            odd.push_back(i);
            continue;
        }
        double* NAIVELY_RESTRICT to = sum + static_cast<std::size_t>(labels.klass[i]) * n;
        const double weight = labels.weight_of(i);
        if (accepts.binary)
            for (std::size_t j = 0; j < n; ++j) to[j] += x[j] > threshold ? weight : 0.0;
        else
            for (std::size_t j = 0; j < n; ++j) to[j] += static_cast<double>(x[j]) * weight;
    }
}

#define NAIVELY_ADD_ROWS(T)                                                                                           \
    NAIVELY_WIDE void add_rows_wide(const Dense<T>& rows, const Labels& labels, const Accepts& accepts,               \
                                    std::size_t begin, std::size_t end, double* sum, std::vector<std::size_t>& odd) { \
        add_rows(rows, labels, accepts, begin, end, sum, odd);                                                        \
    }
NAIVELY_ADD_ROWS(double)
NAIVELY_ADD_ROWS(float)
NAIVELY_ADD_ROWS(std::int64_t)
NAIVELY_ADD_ROWS(std::int32_t)
NAIVELY_ADD_ROWS(std::uint8_t)
#undef NAIVELY_ADD_ROWS

template <class T>
void add_odd_row(const Dense<T>& rows, const Labels& labels, const Accepts& accepts, std::size_t i, DenseCount& part) {
    const std::size_t n = rows.columns;
    const T* x = rows.row(i);
    const std::size_t base = static_cast<std::size_t>(labels.klass[i]) * n;
    for (std::size_t j = 0; j < n; ++j) {
        const FaultKind kind = fault_of(x[j], accepts);
        if (kind != FaultKind::none) {
            part.fault.keep_first({kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
            return;
        }
    }
    if (part.missing.empty()) part.missing.assign(part.sum.size(), 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        if (is_missing(x[j]))
            part.missing[base + j] += labels.weight_of(i);
        else
            part.sum[base + j] += valued(x[j], accepts) * labels.weight_of(i);
    }
}

void add_into(std::vector<double>& to, const std::vector<double>& from) {
    if (from.empty()) return;
    if (to.empty()) to.assign(from.size(), 0.0);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

template <class T>
DenseCount count_dense(const Dense<T>& rows, const Labels& labels, const Accepts& accepts, int threads) {
    const std::size_t cells = labels.classes * rows.columns;
    const std::size_t parts = segments(rows.rows * rows.columns, cells);
    std::vector<DenseCount> part(parts);
    for_each_task(parts, worth_threads(threads, rows.rows * rows.columns), [&](std::size_t s) {
        part[s].sum.assign(cells, 0.0);
        std::vector<std::size_t> odd;
        const std::size_t begin = rows.rows * s / parts, end = rows.rows * (s + 1) / parts;
        add_rows_wide(rows, labels, accepts, begin, end, part[s].sum.data(), odd);
        for (const std::size_t i : odd) {
            add_odd_row(rows, labels, accepts, i, part[s]);
            if (part[s].fault) return;
        }
    });
    DenseCount total = std::move(part[0]);
    for (std::size_t s = 1; s < parts; ++s) {
        total.fault.keep_first(part[s].fault);
        add_into(total.sum, part[s].sum);
        add_into(total.missing, part[s].missing);
    }
    return total;
}

#define NAIVELY_COUNT_DENSE(T) template DenseCount count_dense<T>(const Dense<T>&, const Labels&, const Accepts&, int);
NAIVELY_COUNT_DENSE(double)
NAIVELY_COUNT_DENSE(float)
NAIVELY_COUNT_DENSE(std::int64_t)
NAIVELY_COUNT_DENSE(std::int32_t)
NAIVELY_COUNT_DENSE(std::uint8_t)
#undef NAIVELY_COUNT_DENSE

}  // namespace naively
