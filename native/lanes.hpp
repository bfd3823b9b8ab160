// Four doubles that are added and multiplied together: one wide register, two narrow ones, or an array.
#pragma once

#include <cstddef>
#include <cstring>

#include "wide.hpp"

namespace naively {

constexpr std::size_t lanes = 4;

#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(32)));
NAIVELY_INLINE void add_product(Lanes& sum, const Lanes& a, double b) { sum += a * b; }
NAIVELY_INLINE void add(Lanes& sum, const Lanes& a) { sum += a; }
typedef long long Counts __attribute__((vector_size(32)));
// Adds one where x has reached the start.
NAIVELY_INLINE void count_reached(Counts& count, const Lanes& x, double start) { count -= (Counts)(x >= start); }
// sum += (x - mean)^2 * factor
NAIVELY_INLINE void add_square(Lanes& sum, const Lanes& x, const Lanes& mean, const Lanes& factor) {
    const Lanes d = x - mean;
    sum += d * d * factor;
}
#else
struct Lanes {
    double value[lanes];
};
NAIVELY_INLINE void add_product(Lanes& sum, const Lanes& a, double b) {
    for (std::size_t i = 0; i < lanes; ++i) sum.value[i] += a.value[i] * b;
}
NAIVELY_INLINE void add(Lanes& sum, const Lanes& a) {
    for (std::size_t i = 0; i < lanes; ++i) sum.value[i] += a.value[i];
}
struct Counts {
    long long value[lanes];
};
NAIVELY_INLINE void count_reached(Counts& count, const Lanes& x, double start) {
    for (std::size_t i = 0; i < lanes; ++i) count.value[i] += x.value[i] >= start;
}
NAIVELY_INLINE void add_square(Lanes& sum, const Lanes& x, const Lanes& mean, const Lanes& factor) {
    for (std::size_t i = 0; i < lanes; ++i) {
        const double d = x.value[i] - mean.value[i];
        sum.value[i] += d * d * factor.value[i];
    }
}
#endif

NAIVELY_INLINE void load(Lanes& to, const double* from) { std::memcpy(&to, from, sizeof to); }
template <class T>
NAIVELY_INLINE void load(Lanes& to, const T* from) {
    double values[lanes];
    for (std::size_t i = 0; i < lanes; ++i) values[i] = static_cast<double>(from[i]);
    load(to, static_cast<const double*>(values));
}
NAIVELY_INLINE void store(double* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }
NAIVELY_INLINE void store(long long* to, const Counts& from) { std::memcpy(to, &from, sizeof from); }

}  // namespace naively
