#include <algorithm>
#include <vector>

#include "score/score_parts.hpp"

namespace naively {
namespace {

template <class T>
NAIVELY_INLINE double distance(const T* NAIVELY_RESTRICT x, const double* NAIVELY_RESTRICT mean,
                               const double* NAIVELY_RESTRICT half_precision, std::size_t n) {
    // two times four partial sums, so that a long sum does not wait for itself
    Lanes sum[2] = {Lanes{}, Lanes{}};
    std::size_t j = 0;
    for (; j + 2 * lanes <= n; j += 2 * lanes) {
        for (std::size_t half = 0; half < 2; ++half) {
            const std::size_t at = j + half * lanes;
            Lanes value, centre, factor;
            load(value, x + at);
            load(centre, mean + at);
            load(factor, half_precision + at);
            add_square(sum[half], value, centre, factor);
        }
    }
    double part[lanes], rest = 0.0;
    for (; j < n; ++j) {
        const double d = static_cast<double>(x[j]) - mean[j];
        rest += d * d * half_precision[j];
    }
    add(sum[0], sum[1]);
    store(part, sum[0]);
    return ((part[0] + part[1]) + (part[2] + part[3])) + rest;
}

// Score a row with missing values by the factors of the present ones.
template <class T>
void score_odd_row(const Dense<T>& rows, const Normal& normal, std::size_t i, double* out, Findings& findings) {
    const std::size_t n = rows.columns;
    const T* x = rows.row(i);
    for (std::size_t j = 0; j < n; ++j) {
        if (std::isinf(static_cast<double>(x[j])))
            findings.fault.keep_first(
                {FaultKind::infinite, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
        findings.missing = findings.missing || is_missing(x[j]);
    }
    for (std::size_t c = 0; c < normal.classes; ++c) {
        double sum = normal.base[c];
        for (std::size_t j = 0; j < n; ++j) {
            if (is_missing(x[j]) || normal.half_precision[c * n + j] == 0.0) continue;
            const double d = static_cast<double>(x[j]) - normal.mean[c * n + j];
            sum += normal.constant[c * n + j] - d * d * normal.half_precision[c * n + j];
        }
        out[c] = sum;
        if (std::isfinite(sum)) continue;
        std::size_t worst = 0;
        for (std::size_t j = 1; j < n; ++j)
            if (std::fabs(static_cast<double>(x[j])) > std::fabs(static_cast<double>(x[worst])) || is_missing(x[worst]))
                worst = j;
        findings.fault.keep_first(
            {FaultKind::too_wide, static_cast<std::int64_t>(i), static_cast<std::int64_t>(worst)});
    }
}

template <class T>
NAIVELY_INLINE void score_rows(const Dense<T>& rows, const Normal& normal, const double* whole, std::size_t begin,
                               std::size_t end, double* out, Findings& findings) {
    const std::size_t n = rows.columns;
    for (std::size_t i = begin; i < end; ++i) {
        const T* x = rows.row(i);
        double* to = out + i * normal.classes;
        bool odd = false;
        for (std::size_t c = 0; c < normal.classes; ++c) {
            const double d = distance(x, normal.mean + c * n, normal.half_precision + c * n, n);
            odd = odd || !std::isfinite(d);
            to[c] = whole[c] - d;
        }
        if (odd) score_odd_row(rows, normal, i, to, findings);
    }
}

#define NAIVELY_SCORE_ROWS(T)                                                                                \
    NAIVELY_WIDE void score_rows_wide(const Dense<T>& rows, const Normal& normal, const double* whole,       \
                                      std::size_t begin, std::size_t end, double* out, Findings& findings) { \
        score_rows(rows, normal, whole, begin, end, out, findings);                                          \
    }
NAIVELY_SCORE_ROWS(double)
NAIVELY_SCORE_ROWS(float)
NAIVELY_SCORE_ROWS(std::int64_t)
NAIVELY_SCORE_ROWS(std::int32_t)
NAIVELY_SCORE_ROWS(std::uint8_t)
#undef NAIVELY_SCORE_ROWS

}  // namespace

template <class T>
Findings score_normal(const Dense<T>& rows, const Normal& normal, double* out, int threads) {
    const std::size_t n = rows.columns, elements = rows.rows * n;
    std::vector<double> whole(normal.base, normal.base + normal.classes);
    for (std::size_t c = 0; c < normal.classes; ++c)
        for (std::size_t j = 0; j < n; ++j) whole[c] += normal.constant[c * n + j];
    return in_parts(rows.rows, elements, threads, [&](std::size_t begin, std::size_t end, Findings& findings) {
        score_rows_wide(rows, normal, whole.data(), begin, end, out, findings);
    });
}

#define NAIVELY_SCORE_NORMAL(T) template Findings score_normal<T>(const Dense<T>&, const Normal&, double*, int);
NAIVELY_SCORE_NORMAL(double)
NAIVELY_SCORE_NORMAL(float)
NAIVELY_SCORE_NORMAL(std::int64_t)
NAIVELY_SCORE_NORMAL(std::int32_t)
NAIVELY_SCORE_NORMAL(std::uint8_t)
#undef NAIVELY_SCORE_NORMAL

}  // namespace naively
