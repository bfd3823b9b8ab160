// FixedPoint: the weighted count of a cell, a whole number of units of 2^-64 in 128 bits.
// Adding never rounds, and a result that does not fit is reported.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "base/fixed_sums.hpp"

namespace naively {

[[noreturn]] inline void too_large() {
    throw std::overflow_error("counts add up to more than 2^62; divide the weights by a common factor");
}

// whole + fraction * 2^-64, in two's complement.
struct FixedPoint {
    std::uint64_t fraction = 0;
    std::int64_t whole = 0;

    FixedPoint() = default;
    explicit constexpr FixedPoint(std::int64_t number) : whole(number) {}
    constexpr FixedPoint(std::uint64_t parts, std::int64_t number) : fraction(parts), whole(number) {}

    // Round a double to whole units (ties to even).
    explicit FixedPoint(double value) {
        if (!(std::fabs(value) < 9223372036854775808.0)) too_large();
        constexpr double step = 1.0 / 4096.0;
        const double size = std::fabs(value);
        const Parts parts(size >= step ? size : (size + step) - step);
        if (parts.whole == 0) return;
        const int up = parts.exponent + 64;
        if (up >= 64) {
            whole = static_cast<std::int64_t>(parts.whole << (up - 64));
        } else if (up > 0) {
            fraction = parts.whole << up;
            whole = static_cast<std::int64_t>(parts.whole >> (64 - up));
        } else {
            fraction = -up < 64 ? parts.whole >> -up : 0;
        }
        if (value < 0.0) *this = -*this;
    }

    bool operator==(const FixedPoint&) const = default;
    bool negative() const { return whole < 0; }

    FixedPoint operator-() const {
        const std::uint64_t parts = ~fraction + 1;
        return {parts, static_cast<std::int64_t>(~static_cast<std::uint64_t>(whole) + (parts == 0))};
    }

    // sum = a + b; returns false if that does not fit.
    static NAIVELY_INLINE bool add(const FixedPoint& a, const FixedPoint& b, FixedPoint& sum) {
        const std::uint64_t parts = a.fraction + b.fraction, over = parts < a.fraction;
        const auto left = static_cast<std::uint64_t>(a.whole), right = static_cast<std::uint64_t>(b.whole);
        const std::uint64_t total = left + right + over;
        sum = {parts, static_cast<std::int64_t>(total)};
        return !(((left ^ total) & (right ^ total)) >> 63);
    }

    NAIVELY_INLINE FixedPoint& operator+=(const FixedPoint& other) {
        if (!add(*this, other, *this)) too_large();
        return *this;
    }

    // This number, which must not be below zero, times a whole number.
    NAIVELY_INLINE FixedPoint times(std::uint32_t factor) const {
        const Product parts = multiplied(fraction, factor),
                      number = multiplied(static_cast<std::uint64_t>(whole), factor);
        const std::uint64_t sum = number.low + parts.high;
        if (number.high || sum >> 63) too_large();
        return {parts.low, static_cast<std::int64_t>(sum)};
    }

    // This number, which must not be below zero, times `share` * 2^-32 (at most one), rounded to whole units.
    NAIVELY_INLINE FixedPoint share(std::uint64_t share) const {
        const Product low = multiplied(fraction, share), high = multiplied(static_cast<std::uint64_t>(whole), share);
        const std::uint64_t middle = high.low + low.high, top = high.high + (middle < high.low);
        FixedPoint result{(middle << 32) | (low.low >> 32), static_cast<std::int64_t>((top << 32) | (middle >> 32))};
        if ((low.low >> 31) & 1) result += FixedPoint{std::uint64_t{1}, 0};
        return result;
    }

    // The nearest double (ties to even).
    double rounded() const {
        if (negative()) return -(-*this).rounded();
        const auto high = static_cast<std::uint64_t>(whole);
        if (high == 0) return static_cast<double>(fraction) * 0x1p-64;
        const int up = std::countl_zero(high);
        std::uint64_t bits = up ? (high << up) | (fraction >> (64 - up)) : high;
        bits |= (fraction << up) != 0;
        return std::ldexp(static_cast<double>(bits), -up);
    }
};

static_assert(sizeof(FixedPoint) == 16);

inline double as_double(double value) { return value; }
inline double as_double(const FixedPoint& value) { return value.rounded(); }

// The fraction bits of a plane of whole counts kept in 64 bits. Of three planes the last holds the weights of words, in
// units of 2^-32; every other plane holds whole numbers.
constexpr int bits_of_plane(std::size_t plane, std::size_t planes) { return planes == 3 && plane == 2 ? 32 : 0; }

// Convert a count with `bits` fraction bits to fixed point.
inline FixedPoint widened(std::int64_t value, int bits) {
    if (bits == 0) return FixedPoint{value};
    return {static_cast<std::uint64_t>(value) << (64 - bits), value >> bits};
}

// Convert back; returns false if the value does not fit or has more fraction bits.
inline bool narrowed(const FixedPoint& value, int bits, std::int64_t& to) {
    if (bits == 0) {
        to = value.whole;
        return value.fraction == 0;
    }
    const std::int64_t limit = std::int64_t{1} << (63 - bits);
    if (value.fraction << bits || value.whole >= limit || value.whole < -limit) return false;
    to = static_cast<std::int64_t>((static_cast<std::uint64_t>(value.whole) << bits) | (value.fraction >> (64 - bits)));
    return true;
}

}  // namespace naively
