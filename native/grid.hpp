// A grid over all numbers that needs no range in advance: a cell is the leading bits of a double, in an order that is
// the order of the numbers. Cells are as wide as a fixed share of the numbers in them.
#pragma once

#include <bit>
#include <vector>

#include "count.hpp"

namespace naively {

constexpr int most_grid_bits = 18;  // so that a cell's number fits in 32 bits, with room for other codes

// The number of the cell of x, with `bits` bits of its fraction. Not for NaN.
NAIVELY_INLINE std::uint64_t grid_cell(double x, int bits) {
    const auto pattern = std::bit_cast<std::uint64_t>(x + 0.0);  // one zero, not two
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return (pattern & sign ? ~pattern : pattern | sign) >> (52 - bits);
}

struct GridCount {
    std::vector<std::int64_t> cell;  // ascending
    std::vector<std::int32_t> klass;
    std::vector<double> value;
    std::vector<double> missing;  // per class
    Fault fault;
};

// How often each class has a number in each cell.
template <class T>
GridCount count_grid(const T* values, std::size_t rows, const Labels& labels, int bits);

// For each number, how many of the edges (ascending cells) are at or below its cell; the lowest code where missing.
// Written to every `stride`-th place.
template <class T>
Fault grid_codes(const T* values, std::size_t begin, std::size_t end, int bits, const std::int64_t* edges,
                 std::size_t many, std::int32_t* codes, std::size_t stride);

}  // namespace naively
