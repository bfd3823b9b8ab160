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
#endif

NAIVELY_INLINE void load(Lanes& to, const double* from) { std::memcpy(&to, from, sizeof to); }
NAIVELY_INLINE void store(double* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }

}  // namespace naively
