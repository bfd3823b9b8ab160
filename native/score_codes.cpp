#include <algorithm>
#include <vector>

#include "score_parts.hpp"

namespace naively {
namespace {

// The row of weights for x in column j: null where missing.
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

// Calls use(column, weights) for every code of row i; false where one of them is no code.
template <class T, class Use>
NAIVELY_INLINE bool each_code(const Dense<T>& rows, std::size_t i, const CodeWeights& weights, Seen& seen, Use&& use) {
    const T* x = rows.row(i);
    for (std::size_t j = 0; j < rows.columns; ++j) {
        FaultKind kind;
        const double* weight = row_for(x[j], j, weights, kind);
        if (kind != FaultKind::none) {
            seen.fault.keep_first({kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
            return false;
        }
        if (weight)
            use(j, weight);
        else
            seen.missing = true;
    }
    return true;
}

// Whether every code of a row is one of its column's; then the loop over them needs no questions.
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
                               double* out, Seen& seen) {
    const std::size_t n = rows.columns;
    for (std::size_t i = begin; i < end; ++i) {
        // Two sums, for every other column, so that neither waits for itself.
        Lanes sum[Blocks], other[Blocks];
        for (std::size_t b = 0; b < Blocks; ++b) {
            load(sum[b], weights.base + b * lanes);
            other[b] = Lanes{};
        }
        const T* x = rows.row(i);
        if (row_is_plain(x, n, weights.sizes)) {
            const auto weight_of = [&](std::size_t j) {
                return weights.weight +
                       static_cast<std::size_t>(weights.offsets[j] + static_cast<std::int64_t>(x[j])) * Blocks * lanes;
            };
            std::size_t j = 0;
            for (; j + 2 <= n; j += 2) {
                add_row<Blocks>(sum, weight_of(j));
                add_row<Blocks>(other, weight_of(j + 1));
            }
            if (j < n) add_row<Blocks>(sum, weight_of(j));
        } else if (!each_code(rows, i, weights, seen, [&](std::size_t j, const double* weight) {
                       add_row<Blocks>(j % 2 ? other : sum, weight);
                   })) {
            return;
        }
        double row[Blocks * lanes];
        for (std::size_t b = 0; b < Blocks; ++b) {
            add(sum[b], other[b]);
            store(row + b * lanes, sum[b]);
        }
        std::copy(row, row + weights.classes, out + i * weights.classes);
    }
}

// Any number of classes.
template <class T>
NAIVELY_INLINE void score_many(const Dense<T>& rows, const CodeWeights& weights, std::size_t begin, std::size_t end,
                               double* out, Seen& seen) {
    std::vector<double> sum(weights.stride);
    for (std::size_t i = begin; i < end; ++i) {
        std::copy(weights.base, weights.base + weights.stride, sum.begin());
        const bool whole = each_code(rows, i, weights, seen, [&](std::size_t, const double* NAIVELY_RESTRICT weight) {
            for (std::size_t c = 0; c < weights.stride; ++c) sum[c] += weight[c];
        });
        if (!whole) return;
        std::copy(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(weights.classes), out + i * weights.classes);
    }
}

#define NAIVELY_SCORE_ROWS(T)                                                                              \
    NAIVELY_WIDE void score_rows_wide(const Dense<T>& rows, const CodeWeights& weights, std::size_t begin, \
                                      std::size_t end, double* out, Seen& seen) {                          \
        switch (weights.stride) {                                                                          \
            case 4: return score_rows<1>(rows, weights, begin, end, out, seen);                            \
            case 8: return score_rows<2>(rows, weights, begin, end, out, seen);                            \
            default: return score_many(rows, weights, begin, end, out, seen);                              \
        }                                                                                                  \
    }
NAIVELY_SCORE_ROWS(double)
NAIVELY_SCORE_ROWS(float)
NAIVELY_SCORE_ROWS(std::int64_t)
NAIVELY_SCORE_ROWS(std::int32_t)
NAIVELY_SCORE_ROWS(std::uint8_t)
#undef NAIVELY_SCORE_ROWS

}  // namespace

template <class T>
Seen score_codes(const Dense<T>& rows, const CodeWeights& weights, double* out, int threads) {
    const std::size_t elements = rows.rows * rows.columns;
    return in_parts(rows.rows, elements, threads, [&](std::size_t begin, std::size_t end, Seen& seen) {
        score_rows_wide(rows, weights, begin, end, out, seen);
    });
}

#define NAIVELY_SCORE_CODES(T) template Seen score_codes<T>(const Dense<T>&, const CodeWeights&, double*, int);
NAIVELY_SCORE_CODES(double)
NAIVELY_SCORE_CODES(float)
NAIVELY_SCORE_CODES(std::int64_t)
NAIVELY_SCORE_CODES(std::int32_t)
NAIVELY_SCORE_CODES(std::uint8_t)
#undef NAIVELY_SCORE_CODES

}  // namespace naively
