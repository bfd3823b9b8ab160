#include <algorithm>
#include <vector>

#include "score/decide.hpp"
#include "score/score_parts.hpp"

namespace naively {
namespace {

// The row of weights for x in column j; null if x is missing.
template <class T>
NAIVELY_INLINE const double* row_for(T x, std::size_t j, const CodeWeights& weights, FaultKind& kind) {
    kind = FaultKind::none;
    if constexpr (std::is_integral_v<T>)
        if (static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(weights.sizes[j]))
            return weights.weight +
                   static_cast<std::size_t>(weights.offsets[j] + static_cast<std::int64_t>(x)) * weights.stride;
    if (is_missing_code(x)) return nullptr;
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isinf(x))
            kind = FaultKind::infinite;
        else if (x < 0)
            kind = FaultKind::out_of_range;
        else if (x != std::floor(x))
            kind = FaultKind::not_whole;
        else if (static_cast<double>(x) < static_cast<double>(weights.sizes[j]))
            return weights.weight +
                   static_cast<std::size_t>(weights.offsets[j] + static_cast<std::int64_t>(x)) * weights.stride;
    } else if (x < 0) {
        kind = FaultKind::out_of_range;
    }
    return weights.unseen + j * weights.stride;
}

// Call use(weights) for every code of row i; returns false if an entry is no code.
template <class T, class Use>
NAIVELY_INLINE bool each_code(const Dense<T>& rows, std::size_t i, const CodeWeights& weights, Findings& findings,
                              Use&& use) {
    const T* x = rows.row(i);
    for (std::size_t j = 0; j < rows.columns; ++j) {
        FaultKind kind;
        const double* weight = row_for(x[j], j, weights, kind);
        if (kind != FaultKind::none) {
            findings.fault.keep_first({kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
            return false;
        }
        if (weight)
            use(weight);
        else
            findings.missing = true;
    }
    return true;
}

// True if every code of a row is within its column's table; then the loop over them needs no checks.
template <class T>
NAIVELY_INLINE bool row_is_plain(const T* NAIVELY_RESTRICT x, std::size_t n,
                                 const std::int64_t* NAIVELY_RESTRICT sizes) {
    if constexpr (std::is_floating_point_v<T>) {
        return false;
    } else {
        int bad = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const auto code = static_cast<std::int64_t>(x[j]);
            bad |= (code < 0) | (code >= sizes[j]);
        }
        return bad == 0;
    }
}

template <std::size_t Blocks>
NAIVELY_INLINE void add_row(Lanes* sum, const double* weight) {
    for (std::size_t b = 0; b < Blocks; ++b) {
        Lanes w;
        load(w, weight + b * lanes);
        add(sum[b], w);
    }
}

template <std::size_t Blocks, class T>
NAIVELY_INLINE void score_rows(const Dense<T>& rows, const CodeWeights& weights, std::size_t begin, std::size_t end,
                               double* out, Findings& findings) {
    const std::size_t n = rows.columns;
    for (std::size_t i = begin; i < end; ++i) {
        Lanes sum[Blocks];
        for (std::size_t b = 0; b < Blocks; ++b) load(sum[b], weights.base + b * lanes);
        const T* x = rows.row(i);
        if (row_is_plain(x, n, weights.sizes)) {
            for (std::size_t j = 0; j < n; ++j)
                add_row<Blocks>(sum, weights.weight + static_cast<std::size_t>(weights.offsets[j] +
                                                                               static_cast<std::int64_t>(x[j])) *
                                                          Blocks * lanes);
        } else if (!each_code(rows, i, weights, findings,
                              [&](const double* weight) { add_row<Blocks>(sum, weight); })) {
            return;
        }
        double row[Blocks * lanes];
        for (std::size_t b = 0; b < Blocks; ++b) store(row + b * lanes, sum[b]);
        std::copy(row, row + weights.classes, out + i * weights.classes);
    }
}

// A version for any number of classes.
template <class T>
NAIVELY_INLINE void score_many(const Dense<T>& rows, const CodeWeights& weights, std::size_t begin, std::size_t end,
                               double* out, Findings& findings) {
    std::vector<double> sum(weights.stride);
    for (std::size_t i = begin; i < end; ++i) {
        std::copy(weights.base, weights.base + weights.stride, sum.begin());
        const bool whole = each_code(rows, i, weights, findings, [&](const double* NAIVELY_RESTRICT weight) {
            for (std::size_t c = 0; c < weights.stride; ++c) sum[c] += weight[c];
        });
        if (!whole) return;
        std::copy(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(weights.classes), out + i * weights.classes);
    }
}

#define NAIVELY_SCORE_ROWS(T)                                                                              \
    NAIVELY_WIDE void score_rows_wide(const Dense<T>& rows, const CodeWeights& weights, std::size_t begin, \
                                      std::size_t end, double* out, Findings& findings) {                  \
        switch (weights.stride) {                                                                          \
            case 4: return score_rows<1>(rows, weights, begin, end, out, findings);                        \
            case 8: return score_rows<2>(rows, weights, begin, end, out, findings);                        \
            default: return score_many(rows, weights, begin, end, out, findings);                          \
        }                                                                                                  \
    }
NAIVELY_SCORE_ROWS(double)
NAIVELY_SCORE_ROWS(float)
NAIVELY_SCORE_ROWS(std::int64_t)
NAIVELY_SCORE_ROWS(std::int32_t)
NAIVELY_SCORE_ROWS(std::uint8_t)
#undef NAIVELY_SCORE_ROWS

// Add the weights of some rows' codes in one column to their sums, which are padded as the weights are.
template <std::size_t Blocks>  // 0: any number
NAIVELY_INLINE void add_column(const std::int32_t* codes, std::size_t rows, const CodeWeights& weights, std::size_t j,
                               double* sums) {
    const std::size_t stride = Blocks ? Blocks * lanes : weights.stride;
    const double* known = weights.weight + static_cast<std::size_t>(weights.offsets[j]) * stride;
    const double* unseen = weights.unseen + j * stride;
    const std::int64_t size = weights.sizes[j];
    for (std::size_t i = 0; i < rows; ++i, sums += stride) {
        const std::int64_t code = codes[i];
        if (code < 0) continue;  // missing
        const double* weight = code < size ? known + static_cast<std::size_t>(code) * stride : unseen;
        for (std::size_t at = 0; at < stride; at += lanes) {
            Lanes sum, more;
            load(sum, sums + at);
            load(more, weight + at);
            add(sum, more);
            store(sums + at, sum);
        }
    }
}

NAIVELY_WIDE void add_column_wide(const std::int32_t* codes, std::size_t rows, const CodeWeights& weights,
                                  std::size_t j, double* sums) {
    switch (weights.stride) {
        case 4: return add_column<1>(codes, rows, weights, j, sums);
        case 8: return add_column<2>(codes, rows, weights, j, sums);
        default: return add_column<0>(codes, rows, weights, j, sums);
    }
}

// Call use(from, to, sums) for a few rows at a time, so that their sums stay in the cache.
template <class Use>
Findings score_terms(const std::vector<CodeTerm>& terms, std::size_t rows, std::size_t stride, int threads, Use&& use) {
    const std::size_t most = std::max<std::size_t>(16, 2048 / stride);
    std::size_t columns = 0;
    for (const CodeTerm& term : terms) columns += term.columns.size();
    return in_parts(rows, rows * columns, threads, [&](std::size_t begin, std::size_t end, Findings& findings) {
        const std::size_t tile = std::min(most, end - begin);
        std::vector<std::int32_t> codes(tile);
        std::vector<double> total(tile * stride), next(tile * stride);
        for (std::size_t from = begin; from < end; from += tile) {
            const std::size_t to = std::min(from + tile, end);
            std::fill(total.begin(), total.end(), 0.0);
            std::int64_t column = 0;
            // each term is summed by itself, as if it were the only one
            for (std::size_t t = 0; t < terms.size(); ++t) {
                std::vector<double>& sums = t == 0 ? total : next;
                if (t > 0) std::fill(next.begin(), next.end(), 0.0);
                for (std::size_t j = 0; j < terms[t].columns.size(); ++j, ++column) {
                    Fault fault = terms[t].columns[j]->read(from, to, codes.data(), 1);
                    fault.column = column;
                    findings.fault.keep_first(fault);
                    if (!findings.fault) add_column_wide(codes.data(), to - from, terms[t].weights, j, sums.data());
                }
                for (std::size_t k = 0; t > 0 && k < next.size(); ++k) total[k] += next[k];
            }
            if (findings.fault) return;
            use(from, to, total.data());
        }
    });
}

}  // namespace

template <class T>
Findings score_codes(const Dense<T>& rows, const CodeWeights& weights, double* out, int threads) {
    const std::size_t elements = rows.rows * rows.columns;
    return in_parts(rows.rows, elements, threads, [&](std::size_t begin, std::size_t end, Findings& findings) {
        score_rows_wide(rows, weights, begin, end, out, findings);
    });
}

Findings score_columns(const std::vector<CodeTerm>& terms, std::size_t rows, std::size_t classes, std::size_t stride,
                       double* out, int threads) {
    return score_terms(terms, rows, stride, threads, [&](std::size_t from, std::size_t to, const double* sums) {
        for (std::size_t i = from; i < to; ++i, sums += stride) std::copy(sums, sums + classes, out + i * classes);
    });
}

Findings decide_columns(const std::vector<CodeTerm>& terms, std::size_t rows, std::size_t classes, std::size_t stride,
                        const double* prior, std::int64_t* out, int threads) {
    return score_terms(terms, rows, stride, threads, [&](std::size_t from, std::size_t to, const double* sums) {
        decide(sums, stride, prior, to - from, classes, out + from);
    });
}

#define NAIVELY_SCORE_CODES(T) template Findings score_codes<T>(const Dense<T>&, const CodeWeights&, double*, int);
NAIVELY_SCORE_CODES(double)
NAIVELY_SCORE_CODES(float)
NAIVELY_SCORE_CODES(std::int64_t)
NAIVELY_SCORE_CODES(std::int32_t)
NAIVELY_SCORE_CODES(std::uint8_t)
#undef NAIVELY_SCORE_CODES

}  // namespace naively
