// A grid over all doubles that needs no range in advance: a cell is the leading bits of a double.
// The order of cells is the order of numbers, and a cell's width is a fixed share of the numbers in it.
#pragma once

#include <bit>
#include <vector>

#include "count/count.hpp"

namespace naively {

constexpr int most_grid_bits = 18;  // with so many bits a cell's number fits in 32 bits, with room for other codes

// The cell of x, with `bits` bits of its fraction. x must not be NaN.
NAIVELY_INLINE std::uint64_t grid_cell(double x, int bits) {
    const auto pattern = std::bit_cast<std::uint64_t>(x + 0.0);  // + 0.0 turns -0 into 0
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return (pattern & sign ? ~pattern : pattern | sign) >> (52 - bits);
}

// The lowest number of a cell; infinite for cells beyond all numbers.
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

// For each of `grid_run` numbers, count the starts (ascending) at or below it.
void count_starts(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes);

struct GridCount {
    std::vector<std::int64_t> cell;  // ascending
    std::vector<std::int32_t> klass;
    Numbers value;
    Numbers missing;  // per class
    Fault fault;
};

// Count the numbers in each cell, by class.
template <class T>
GridCount count_grid(const T* values, std::size_t rows, const Labels& labels, int bits);

}  // namespace naively
