// Exact sums: how many values, their sum and the sum of their squares, per class and column, with nothing rounded.
#pragma once

#include "base/exact_numbers.hpp"
#include "count/count.hpp"
#include "count/row_blocks.hpp"

namespace naively {

struct ExactCount {
    ExactNumbers sums;  // n, then x, then x * x: classes x columns each
    Fault fault;
};

constexpr double largest_weight = 4611686018427387904.0;  // 2^62

// A weight as it is counted: a whole multiple of 2^-64.
inline double counted_weight(double weight) {
    constexpr double step = 1.0 / 4096.0;
    return weight >= step ? weight : (weight + step) - step;
}

// Rows are a matrix (Dense) or columns that are kept apart (NumberColumns). Missing values add nothing. Infinite values
// and weights that are no numbers from 0 to 2^62 are faults, the latter in column -1. Sums do not depend on the order
// of the rows, nor on threads.
template <class Source>
ExactCount count_exactly(const Source& rows, const Labels& labels, int threads);

}  // namespace naively
