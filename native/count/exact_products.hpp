// Exact sums of products of pairs of columns, per class, with nothing rounded.
#pragma once

#include "base/exact_numbers.hpp"
#include "count/count.hpp"

namespace naively {

// For each class and pair of different columns i and j, classes x columns x columns each, weighted:
// - the rows that have i and miss j; then the sum of i over them;
// - then the sum of i * j over the rows that have both, where i < j (zero elsewhere).
// Values must be finite or missing, weights from 0 to 2^62. Sums do not depend on the order of the rows, nor on
// threads.
ExactNumbers count_products_exactly(const Dense<double>& rows, const Labels& labels, int threads);

}  // namespace naively
