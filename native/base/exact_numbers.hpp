// Exact numbers: integers times a power of two, kept as the digits that are not zero.
//
// A digit has 64 bits; the one at place p is worth 2^(64 p). Negative numbers are in two's complement, so that the last
// digit has the sign. The first digit of a number is not zero, the last does not merely repeat the sign, and zero has
// no digits: equal numbers have equal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rows.hpp"

namespace naively {

// Places of w * x * x for every weight and double, with room for 2^62 rows and more.
constexpr int lowest_place = -36, end_of_places = 37;
constexpr std::size_t most_digits = static_cast<std::size_t>(end_of_places - lowest_place);

using Digit = std::uint64_t;

// Numbers one after another: where the first digit of each is placed, how many digits it has, and the digits of all.
struct ExactNumbers {
    std::vector<std::int8_t> place;
    std::vector<std::uint8_t> length;
    std::vector<Digit> digits;

    // Append a number of which `size` digits in two's complement are given, the first at `low`.
    void push(const Digit* digits, std::size_t size, int low);
    void append(const ExactNumbers& others) {
        place.insert(place.end(), others.place.begin(), others.place.end());
        length.insert(length.end(), others.length.begin(), others.length.end());
        digits.insert(digits.end(), others.digits.begin(), others.digits.end());
    }
    void push_zero() { push(nullptr, 0, 0); }
    void reserve(std::size_t numbers) {
        place.reserve(numbers);
        length.reserve(numbers);
        digits.reserve(3 * numbers);
    }
};

struct ExactView {
    const std::int8_t* place;
    const std::uint8_t* length;
    const Digit* digits;
    std::size_t size;         // how many numbers
    std::size_t digits_size;  // of all numbers together
};

// True if every number is written in the one way that it should be.
bool well_formed(const ExactView& numbers);

// a + b or a - b, number by number.
ExactNumbers added(const ExactView& a, const ExactView& b, bool subtract);

// Numbers by index; an index below zero stands for a zero.
ExactNumbers taken(const ExactView& numbers, const std::int64_t* index, std::size_t size);

// Sums over the middle one of three axes.
ExactNumbers totals(const ExactView& numbers, std::size_t outer, std::size_t middle, std::size_t inner, int threads);

// Doubles as exact numbers; they must be finite.
ExactNumbers exactly(const double* values, std::size_t size);

// -1, 0 or 1 for each number.
std::vector<std::int8_t> signs(const ExactView& numbers);

// The double nearest to each number (of two, the even one); infinite where it is too large.
std::vector<double> rounded(const ExactView& numbers);

// What sums come to, each as the nearest double.
struct Moments {
    std::vector<double> n, mean, variance;
};

// Of numbers that are all n, then all sums of x, then all sums of x * x: n, x / n and (n * squares - x * x) / (n * n).
// The latter two are 0 where n is not above 0; the last is NaN where it is negative: these are sums of no rows.
Moments moments_of(const ExactView& sums, int threads);

// Of numbers that are all n, then all sums of x, of y and of x * y: (n * products - x * y) / (n * n) of each, as the
// nearest double; 0 where n is not above 0.
std::vector<double> covariances_of(const ExactView& sums, int threads);

}  // namespace naively
