// Lanes: four doubles that are added and multiplied together, in one wide register, two narrow ones or an array.
// Every variant gives the same bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/wide.hpp"

namespace naively {

constexpr std::size_t lanes = 4;

#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(32)));
typedef long long LaneBits __attribute__((vector_size(32)));
NAIVELY_INLINE bool all(const LaneBits& bits) { return (bits[0] & bits[1] & bits[2] & bits[3]) == -1; }
NAIVELY_INLINE void mark_all(LaneBits& marks) { marks = LaneBits{-1, -1, -1, -1}; }
// Clear the marks of lanes where |x - centre| > reach or x is NaN.
NAIVELY_INLINE void keep_within(LaneBits& marks, const Lanes& x, const Lanes& centre, const Lanes& reach) {
    constexpr long long no_sign = 0x7fffffffffffffff;
    const Lanes apart = (Lanes)((LaneBits)x & no_sign) - centre;
    marks &= (LaneBits)((Lanes)((LaneBits)apart & no_sign) <= reach);
}
NAIVELY_INLINE bool all_either(const LaneBits& a, const LaneBits& b) { return all(a | b); }
NAIVELY_INLINE void keep_zero(LaneBits& marks, const Lanes& x) { marks &= (LaneBits)(x == 0.0); }
// Set missing values of x to zero and add `one` to `sum` in their lanes.
NAIVELY_INLINE void take_missing(Lanes& x, Lanes& sum, const Lanes& one) {
    const LaneBits known = (LaneBits)(x == x);
    sum += (Lanes)((LaneBits)one & ~known);
    x = (Lanes)((LaneBits)x & known);
}
NAIVELY_INLINE void fill(Lanes& to, double value) { to = Lanes{value, value, value, value}; }
NAIVELY_INLINE void add_product(Lanes& sum, const Lanes& a, double b) { sum += a * b; }
NAIVELY_INLINE void add(Lanes& sum, const Lanes& a) { sum += a; }
typedef long long Counts __attribute__((vector_size(32)));
// Add one to the lanes where x >= start.
NAIVELY_INLINE void count_reached(Counts& count, const Lanes& x, double start) { count -= (Counts)(x >= start); }
// sum += (x - mean)^2 * factor
NAIVELY_INLINE void add_square(Lanes& sum, const Lanes& x, const Lanes& mean, const Lanes& factor) {
    const Lanes d = x - mean;
    sum += d * d * factor;
}
#else
struct Lanes {
    double value[lanes];
    double& operator[](std::size_t i) { return value[i]; }
    double operator[](std::size_t i) const { return value[i]; }
};
template <class Each>
NAIVELY_INLINE Lanes each_lane(Each&& each) {
    Lanes result;
    for (std::size_t i = 0; i < lanes; ++i) result.value[i] = each(i);
    return result;
}
NAIVELY_INLINE Lanes operator+(const Lanes& a, const Lanes& b) {
    return each_lane([&](std::size_t i) { return a[i] + b[i]; });
}
NAIVELY_INLINE Lanes operator-(const Lanes& a, const Lanes& b) {
    return each_lane([&](std::size_t i) { return a[i] - b[i]; });
}
NAIVELY_INLINE Lanes operator*(const Lanes& a, const Lanes& b) {
    return each_lane([&](std::size_t i) { return a[i] * b[i]; });
}
struct LaneBits {
    bool value[lanes];
};
NAIVELY_INLINE bool all(const LaneBits& bits) {
    return bits.value[0] && bits.value[1] && bits.value[2] && bits.value[3];
}
NAIVELY_INLINE void mark_all(LaneBits& marks) { marks = {true, true, true, true}; }
NAIVELY_INLINE void keep_within(LaneBits& marks, const Lanes& x, const Lanes& centre, const Lanes& reach) {
    for (std::size_t i = 0; i < lanes; ++i) marks.value[i] &= std::fabs(std::fabs(x[i]) - centre[i]) <= reach[i];
}
NAIVELY_INLINE bool all_either(const LaneBits& a, const LaneBits& b) {
    bool all = true;
    for (std::size_t i = 0; i < lanes; ++i) all &= a.value[i] || b.value[i];
    return all;
}
NAIVELY_INLINE void keep_zero(LaneBits& marks, const Lanes& x) {
    for (std::size_t i = 0; i < lanes; ++i) marks.value[i] &= x[i] == 0.0;
}
NAIVELY_INLINE void take_missing(Lanes& x, Lanes& sum, const Lanes& one) {
    for (std::size_t i = 0; i < lanes; ++i) {
        if (x[i] == x[i]) continue;
        sum[i] += one[i];
        x[i] = 0.0;
    }
}
NAIVELY_INLINE void fill(Lanes& to, double value) {
    for (double& x : to.value) x = value;
}
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
