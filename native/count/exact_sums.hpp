// Exact sums: the number of values, their sum and the sum of their squares, by class and column.
// Nothing is rounded, so results do not depend on the order of rows, their batches or the number of threads.
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

// A weight as it is counted: rounded to a multiple of 2^-64.
inline double counted_weight(double weight) {
    constexpr double step = 1.0 / 4096.0;
    return weight >= step ? weight : (weight + step) - step;
}

// Count a matrix (Dense) or separate columns (NumberColumns). Missing values add nothing. Infinite values are faults,
// and so are weights that are not numbers from 0 to 2^62 (in column -1).
template <class Source>
ExactCount count_exactly(const Source& rows, const Labels& labels, int threads);

}  // namespace naively
