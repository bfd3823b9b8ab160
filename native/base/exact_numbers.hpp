// ExactNumbers: integers times a power of two, stored as only those 64-bit digits that are not zero.
// Each number has exactly one representation, so equal numbers have equal digits, and no operation here rounds unless
// it says so.
//
// The digit at place p is worth 2^(64 p). Negative numbers are in two's complement, so the last digit carries the sign.
// The first digit of a number is not zero, the last does not merely repeat the sign, and zero has no digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rows.hpp"

namespace naively {

// The places that w * x * x can need for any weight and double, with room for sums of 2^62 rows and more.
constexpr int lowest_place = -36, end_of_places = 37;
constexpr std::size_t most_digits = static_cast<std::size_t>(end_of_places - lowest_place);

using Digit = std::uint64_t;

// A sequence of numbers: for each the place of its first digit and its number of digits, then all digits in a row.
struct ExactNumbers {
    std::vector<std::int8_t> place;
    std::vector<std::uint8_t> length;
    std::vector<Digit> digits;

    // Append a number given by `size` digits in two's complement, the first of them at place `low`.
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
    std::size_t size;         // number of numbers
    std::size_t digits_size;  // number of digits, all numbers together
};

// True if every number has the one representation described above.
bool well_formed(const ExactView& numbers);

// a + b, or a - b if `subtract`, number by number.
ExactNumbers added(const ExactView& a, const ExactView& b, bool subtract);

// The numbers at these indices; an index below zero gives zero.
ExactNumbers taken(const ExactView& numbers, const std::int64_t* index, std::size_t size);

// Sums over the middle axis of an array of shape (outer, middle, inner).
ExactNumbers totals(const ExactView& numbers, std::size_t outer, std::size_t middle, std::size_t inner, int threads);

// Doubles as exact numbers; they must be finite.
ExactNumbers exactly(const double* values, std::size_t size);

// The sign of each number: -1, 0 or 1.
std::vector<std::int8_t> signs(const ExactView& numbers);

// The double nearest to each number (ties to even); infinite if the number is too large.
std::vector<double> rounded(const ExactView& numbers);

// Count, mean and variance computed from exact sums, each rounded once to the nearest double.
struct Moments {
    std::vector<double> n, mean, variance;
};

// `sums` holds all n, then all sums of x, then all sums of x * x. Returns n, x / n and (n * squares - x * x) / (n * n).
// The latter two are 0 where n is not above 0; the variance is NaN where it would be negative, since no rows have such
// sums.
Moments moments_of(const ExactView& sums, int threads);

// `sums` holds all n, then all sums of x, of y and of x * y. Returns (n * products - x * y) / (n * n), each rounded
// once to the nearest double; 0 where n is not above 0.
std::vector<double> covariances_of(const ExactView& sums, int threads);

}  // namespace naively
