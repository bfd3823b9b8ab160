// A grid over all numbers that needs no range in advance: a cell is the leading bits of a double, in an order that is
// the order of the numbers. Cells are as wide as a fixed share of the numbers in them.
#pragma once

#include <bit>
#include <vector>

#include "count/count.hpp"

namespace naively {

constexpr int most_grid_bits = 18;  // so that a cell's number fits in 32 bits, with room for other codes

// The number of the cell of x, with `bits` bits of its fraction. Not for NaN.
NAIVELY_INLINE std::uint64_t grid_cell(double x, int bits) {
    const auto pattern = std::bit_cast<std::uint64_t>(x + 0.0);  // one zero, not two
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return (pattern & sign ? ~pattern : pattern | sign) >> (52 - bits);
}

// The least number of a cell; infinite where there is none.
inline double grid_start(std::int64_t cell, int bits) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::uint64_t sign = std::uint64_t{1} << 63;
    if (cell < 0) return -infinity;
    if (cell >> (12 + bits) != 0) return infinity;
    const std::uint64_t ordered = static_cast<std::uint64_t>(cell) << (52 - bits);
    const auto start = std::bit_cast<double>(ordered & sign ? ordered & ~sign : ~ordered);
    if (std::isnan(start)) return ordered & sign ? infinity : -infinity;
    return start;
}

constexpr std::size_t grid_run = 64;

// For each of `grid_run` numbers, how many of some starts, ascending, it has reached.
void count_starts(const double* x, const double* starts, std::size_t many, std::int32_t* codes);

struct GridCount {
    std::vector<std::int64_t> cell;  // ascending
    std::vector<std::int32_t> klass;
    Numbers value;
    Numbers missing;  // per class
    Fault fault;
};

// How often each class has a number in each cell.
template <class T>
GridCount count_grid(const T* values, std::size_t rows, const Labels& labels, int bits);

}  // namespace naively
