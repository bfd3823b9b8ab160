// Moments: how many, their mean, and the sum of squares about it, per class and column.
#pragma once

#include <vector>

#include "count.hpp"

namespace naively {

struct MomentCount {
    std::vector<double> n, mean, m2;  // classes x columns each
    Fault fault;
};

// Missing values add nothing. Sums are taken about a value near the class's own mean (a row of it, or the mean
// of the rows before), so that a mean far from zero costs no digits; parts are merged after Chan, Golub & LeVeque.
template <class T>
MomentCount count_moments(const Dense<T>& rows, const Labels& labels, int threads);

}  // namespace naively
