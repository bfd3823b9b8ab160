#include "columns/starts.hpp"

#include "base/lanes.hpp"

namespace naively {
namespace {

// Compare with one start after the other, several numbers at a time.
NAIVELY_INLINE void count_one_by_one(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes) {
    constexpr std::size_t width = 4 * lanes;
    for (std::size_t i = 0; i < starts_run; i += width) {
        Lanes number[4];
        Counts count[4] = {};
        for (std::size_t b = 0; b < 4; ++b) load(number[b], x + i + b * lanes);
        for (std::size_t k = 0; k < n_starts; ++k)
            for (std::size_t b = 0; b < 4; ++b) count_reached(count[b], number[b], starts[k]);
        long long counted[width];
        for (std::size_t b = 0; b < 4; ++b) store(counted + b * lanes, count[b]);
        for (std::size_t k = 0; k < width; ++k) codes[i + k] = static_cast<std::int32_t>(counted[k]);
    }
}

std::int32_t count_by_halves(double x, const double* starts, std::size_t n_starts) {
    const double* low = starts;
    for (std::size_t left = n_starts; left > 0;) {
        const std::size_t half = (left + 1) / 2;
        low += static_cast<std::size_t>(low[half - 1] <= x) * half;  // no branch to mispredict
        left -= half;
    }
    return static_cast<std::int32_t>(low - starts);
}

constexpr std::size_t few_starts = 32;

}  // namespace

NAIVELY_WIDE void count_starts(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes) {
    if (n_starts <= few_starts) return count_one_by_one(x, starts, n_starts, codes);
    for (std::size_t i = 0; i < starts_run; ++i) codes[i] = count_by_halves(x[i], starts, n_starts);
}

}  // namespace naively
