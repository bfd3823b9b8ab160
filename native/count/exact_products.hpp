// Exact sums of products of pairs of columns, by class.
// Nothing is rounded, so results do not depend on the order of rows, their batches or the number of threads.
#pragma once

#include "base/exact_numbers.hpp"
#include "count/count.hpp"

namespace naively {

// Three arrays of classes x columns x columns, for each class and pair of different columns i and j:
// the weight of the rows that have i and miss j; the sum of i over them;
// the sum of i * j over the rows that have both, where i < j (zero elsewhere).
// Values must be finite or missing, weights from 0 to 2^62.
ExactNumbers count_products_exactly(const Dense<double>& rows, const Labels& labels, int threads);

}  // namespace naively
