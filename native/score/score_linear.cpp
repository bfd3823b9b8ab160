#include <algorithm>
#include <stdexcept>
#include <vector>

#include "score/score_parts.hpp"

namespace naively {
namespace {

// Add v times a row of weights.
NAIVELY_INLINE void add_weights(double* NAIVELY_RESTRICT sum, const double* NAIVELY_RESTRICT weight, double v,
                                std::size_t width) {
    for (std::size_t c = 0; c < width; ++c) sum[c] += v * weight[c];
}

template <class T>
void score_odd_row(const Dense<T>& rows, const Weights& weights, const ValueRange& accepts, std::size_t i, double* sum,
                   Findings& findings) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
        const T x = rows.row(i)[j];
        const FaultKind kind = fault_of(x, accepts);
        if (kind != FaultKind::none)
            findings.fault.keep_first({kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
        if (is_missing(x)) {
            findings.missing = true;
            continue;
        }
        add_weights(sum, weights.weight + j * weights.stride, valued(x, accepts), weights.stride);
    }
}

// The values of a row as numbers to multiply with.
template <class T>
NAIVELY_INLINE void values_of(const T* NAIVELY_RESTRICT x, std::size_t n, const Limits<T>& limits,
                              double* NAIVELY_RESTRICT v) {
    const T threshold = limits.threshold;
    if (limits.binary)
        for (std::size_t j = 0; j < n; ++j) v[j] = x[j] > threshold ? 1.0 : 0.0;
    else
        for (std::size_t j = 0; j < n; ++j) v[j] = static_cast<double>(x[j]);
}

constexpr std::size_t together = 4;  // rows scored side by side, so that a sum need not wait for the one before

// A version for rows of weights Blocks * lanes wide; the sums stay in registers.
template <std::size_t Blocks>
NAIVELY_INLINE void score_together(const double* NAIVELY_RESTRICT v, std::size_t n, const Weights& weights,
                                   double* NAIVELY_RESTRICT out) {
    Lanes sum[together][Blocks];
    for (std::size_t r = 0; r < together; ++r)
        for (std::size_t b = 0; b < Blocks; ++b) load(sum[r][b], weights.base + b * lanes);
    for (std::size_t j = 0; j < n; ++j) {
        const double* weight = weights.weight + j * Blocks * lanes;
        for (std::size_t b = 0; b < Blocks; ++b) {
            Lanes w;
            load(w, weight + b * lanes);
            for (std::size_t r = 0; r < together; ++r) add_product(sum[r][b], w, v[r * n + j]);
        }
    }
    for (std::size_t r = 0; r < together; ++r) {
        double row[Blocks * lanes];
        for (std::size_t b = 0; b < Blocks; ++b) store(row + b * lanes, sum[r][b]);
        std::copy(row, row + weights.classes, out + r * weights.classes);
    }
}

NAIVELY_INLINE void score_alone(const double* v, std::size_t n, const Weights& weights, double* sum, double* out) {
    std::copy(weights.base, weights.base + weights.stride, sum);
    for (std::size_t j = 0; j < n; ++j)
        if (v[j] != 0.0) add_weights(sum, weights.weight + j * weights.stride, v[j], weights.stride);
    std::copy(sum, sum + weights.classes, out);
}

template <class T>
NAIVELY_INLINE void score_rows(const Dense<T>& rows, const Weights& weights, const ValueRange& accepts,
                               std::size_t begin, std::size_t end, double* out, Findings& findings) {
    const std::size_t n = rows.columns;
    const Limits<T> limits(accepts);
    std::vector<double> sum(weights.stride), v(together * n);
    for (std::size_t i = begin; i < end;) {
        double* to = out + i * weights.classes;
        std::size_t whole = 0;
        while (whole < together && i + whole < end && all_accepted(rows.row(i + whole), n, limits.low, limits.high)) {
            values_of(rows.row(i + whole), n, limits, &v[whole * n]);
            ++whole;
        }
        if (whole == together && weights.stride == 4) {
            score_together<1>(v.data(), n, weights, to);
        } else if (whole == together && weights.stride == 8) {
            score_together<2>(v.data(), n, weights, to);
        } else {
            for (std::size_t r = 0; r < whole; ++r)
                score_alone(&v[r * n], n, weights, sum.data(), to + r * weights.classes);
        }
        i += whole;
        if (whole == together || i >= end) continue;
        std::copy(weights.base, weights.base + weights.stride, sum.begin());
        score_odd_row(rows, weights, accepts, i, sum.data(), findings);
        std::copy(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(weights.classes), out + i * weights.classes);
        ++i;
    }
}

#define NAIVELY_SCORE_ROWS(T)                                                                                  \
    NAIVELY_WIDE void score_rows_wide(const Dense<T>& rows, const Weights& weights, const ValueRange& accepts, \
                                      std::size_t begin, std::size_t end, double* out, Findings& findings) {   \
        score_rows(rows, weights, accepts, begin, end, out, findings);                                         \
    }
NAIVELY_SCORE_ROWS(double)
NAIVELY_SCORE_ROWS(float)
NAIVELY_SCORE_ROWS(std::int64_t)
NAIVELY_SCORE_ROWS(std::int32_t)
NAIVELY_SCORE_ROWS(std::uint8_t)
#undef NAIVELY_SCORE_ROWS

// True if every entry of row i can be used as it stands; then the loop over them needs no checks.
template <class T, class I>
NAIVELY_INLINE bool row_is_plain(const Sparse<T, I>& rows, const Limits<T>& limits, std::size_t i) {
    if (rows.starts[i] < 0 || rows.starts[i + 1] < rows.starts[i]) return false;
    const auto begin = static_cast<std::size_t>(rows.starts[i]), end = static_cast<std::size_t>(rows.starts[i + 1]);
    if (end > rows.stored || !all_accepted(rows.values + begin, end - begin, limits.low, limits.high)) return false;
    const auto last = static_cast<I>(rows.columns - 1);
    int bad = rows.columns == 0;
    for (std::size_t k = begin; k < end; ++k) bad |= (rows.columns_of[k] < 0) | (rows.columns_of[k] > last);
    return bad == 0;
}

template <std::size_t Blocks, class T, class I>
NAIVELY_INLINE void score_entries(const Sparse<T, I>& rows, const Weights& weights, const ValueRange& accepts,
                                  std::size_t begin, std::size_t end, double* out, Findings& findings) {
    constexpr std::size_t distance = 16;  // entries between the prefetch of weights and their use
    const Limits<T> limits(accepts);
    const auto missed = [&](std::int64_t) { findings.missing = true; };
    const auto weights_of = [&](auto column) {
        return weights.weight + static_cast<std::size_t>(column) * Blocks * lanes;
    };
    for (std::size_t i = begin; i < end; ++i) {
        Lanes sum[Blocks];
        for (std::size_t b = 0; b < Blocks; ++b) load(sum[b], weights.base + b * lanes);
        const auto use = [&](std::int64_t column, double v) {
            const double* weight = weights_of(column);
            for (std::size_t b = 0; b < Blocks; ++b) {
                Lanes w;
                load(w, weight + b * lanes);
                add_product(sum[b], w, v);
            }
        };
        if (row_is_plain(rows, limits, i)) {
            const auto first = static_cast<std::size_t>(rows.starts[i]),
                       last = static_cast<std::size_t>(rows.starts[i + 1]);
            for (std::size_t k = first; k < last; ++k) {
                if (k + distance < last) {
                    const double* later = weights_of(rows.columns_of[k + distance]);
                    for (std::size_t b = 0; b < Blocks; b += 2) NAIVELY_PREFETCH(later + b * lanes);
                    NAIVELY_PREFETCH(later + Blocks * lanes - 1);
                }
                const T x = rows.values[k];
                use(rows.columns_of[k], limits.binary ? (x > limits.threshold ? 1.0 : 0.0) : static_cast<double>(x));
            }
        } else {
            findings.fault.keep_first(each_entry(rows, accepts, i, use, missed));
        }
        double row[Blocks * lanes];
        for (std::size_t b = 0; b < Blocks; ++b) store(row + b * lanes, sum[b]);
        std::copy(row, row + weights.classes, out + i * weights.classes);
    }
}

// A version for any number of classes.
template <class T, class I>
NAIVELY_INLINE void score_many(const Sparse<T, I>& rows, const Weights& weights, const ValueRange& accepts,
                               std::size_t begin, std::size_t end, double* out, Findings& findings) {
    std::vector<double> sum(weights.stride);
    const auto missed = [&](std::int64_t) { findings.missing = true; };
    for (std::size_t i = begin; i < end; ++i) {
        std::copy(weights.base, weights.base + weights.stride, sum.begin());
        const auto use = [&](std::int64_t column, double v) {
            add_weights(sum.data(), weights.weight + static_cast<std::size_t>(column) * weights.stride, v,
                        weights.stride);
        };
        findings.fault.keep_first(each_entry(rows, accepts, i, use, missed));
        std::copy(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(weights.classes), out + i * weights.classes);
    }
}

#define NAIVELY_SCORE_ENTRIES(T, I)                                                                                   \
    NAIVELY_WIDE void score_entries_wide(const Sparse<T, I>& rows, const Weights& weights, const ValueRange& accepts, \
                                         std::size_t begin, std::size_t end, double* out, Findings& findings) {       \
        switch (weights.stride) {                                                                                     \
            case 4: return score_entries<1>(rows, weights, accepts, begin, end, out, findings);                       \
            case 8: return score_entries<2>(rows, weights, accepts, begin, end, out, findings);                       \
            case 12: return score_entries<3>(rows, weights, accepts, begin, end, out, findings);                      \
            case 16: return score_entries<4>(rows, weights, accepts, begin, end, out, findings);                      \
            case 20: return score_entries<5>(rows, weights, accepts, begin, end, out, findings);                      \
            default: return score_many(rows, weights, accepts, begin, end, out, findings);                            \
        }                                                                                                             \
    }
NAIVELY_SCORE_ENTRIES(double, std::int32_t)
NAIVELY_SCORE_ENTRIES(double, std::int64_t)
NAIVELY_SCORE_ENTRIES(float, std::int32_t)
NAIVELY_SCORE_ENTRIES(float, std::int64_t)
NAIVELY_SCORE_ENTRIES(std::int64_t, std::int32_t)
NAIVELY_SCORE_ENTRIES(std::int64_t, std::int64_t)
NAIVELY_SCORE_ENTRIES(std::int32_t, std::int32_t)
NAIVELY_SCORE_ENTRIES(std::int32_t, std::int64_t)
NAIVELY_SCORE_ENTRIES(std::uint8_t, std::int32_t)
NAIVELY_SCORE_ENTRIES(std::uint8_t, std::int64_t)
#undef NAIVELY_SCORE_ENTRIES

}  // namespace

template <class T>
Findings score_dense(const Dense<T>& rows, const Weights& weights, const ValueRange& accepts, double* out,
                     int threads) {
    return in_parts(rows.rows, rows.rows * rows.columns, threads,
                    [&](std::size_t begin, std::size_t end, Findings& findings) {
                        score_rows_wide(rows, weights, accepts, begin, end, out, findings);
                    });
}

template <class T, class I>
Findings score_sparse(const Sparse<T, I>& rows, const Weights& weights, const ValueRange& accepts, double* out,
                      int threads) {
    return in_parts(rows.rows, rows.stored, threads, [&](std::size_t begin, std::size_t end, Findings& findings) {
        score_entries_wide(rows, weights, accepts, begin, end, out, findings);
    });
}

template <class T, class I>
Findings score_cells(const Sparse<T, I>& rows, const CellWeights& weights, const ValueRange& accepts, double* out,
                     int threads) {
    const std::size_t classes = weights.classes;
    return in_parts(rows.rows, rows.stored, threads, [&](std::size_t begin, std::size_t end, Findings& findings) {
        for (std::size_t i = begin; i < end; ++i) {
            double* NAIVELY_RESTRICT sum = out + i * classes;
            double length = 0.0, shared = 0.0;
            std::copy(weights.base, weights.base + classes, sum);
            const auto use = [&](std::int64_t column, double v) {
                length += v;
                shared += v * weights.feature[column];
                const std::int64_t from = weights.starts[column], to = weights.starts[column + 1];
                if (from < 0 || (to > from && static_cast<std::size_t>(to) > weights.size))
                    throw std::invalid_argument("a feature's cells are out of range");
                for (std::int64_t k = from; k < to; ++k) {
                    const std::int32_t klass = weights.klass_of[k];
                    if (klass < 0 || static_cast<std::size_t>(klass) >= classes)
                        throw std::invalid_argument("a cell's class is out of range");
                    sum[klass] += v * weights.delta[k];
                }
            };
            findings.fault.keep_first(
                each_entry(rows, accepts, i, use, [&](std::int64_t) { findings.missing = true; }));
            for (std::size_t c = 0; c < classes; ++c) sum[c] += shared + length * weights.klass[c];
        }
    });
}

#define NAIVELY_SCORE_SPARSE(T, I)                                                                              \
    template Findings score_sparse<T, I>(const Sparse<T, I>&, const Weights&, const ValueRange&, double*, int); \
    template Findings score_cells<T, I>(const Sparse<T, I>&, const CellWeights&, const ValueRange&, double*, int);
#define NAIVELY_SCORE(T)                                                                                \
    template Findings score_dense<T>(const Dense<T>&, const Weights&, const ValueRange&, double*, int); \
    NAIVELY_SCORE_SPARSE(T, std::int32_t)                                                               \
    NAIVELY_SCORE_SPARSE(T, std::int64_t)
NAIVELY_SCORE(double)
NAIVELY_SCORE(float)
NAIVELY_SCORE(std::int64_t)
NAIVELY_SCORE(std::int32_t)
NAIVELY_SCORE(std::uint8_t)
#undef NAIVELY_SCORE
#undef NAIVELY_SCORE_SPARSE

}  // namespace naively
