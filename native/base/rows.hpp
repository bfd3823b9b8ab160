// The rows that kernels read (dense, compressed sparse) and the fault that they return for an unusable entry.
// Reading never goes outside the arrays, and results do not depend on the number of threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/wide.hpp"

namespace naively {

enum class FaultKind : int {
    none = 0,
    infinite = 1,
    out_of_range = 2,
    not_whole = 3,
    too_large = 4,
    bad_index = 5,
    too_wide = 6
};

// The first entry that cannot be used.
struct Fault {
    FaultKind kind = FaultKind::none;
    std::int64_t row = -1;
    std::int64_t column = -1;
    explicit operator bool() const { return kind != FaultKind::none; }
    // Keep the fault that comes first in the data, so that the number of threads cannot change the message.
    void keep_first(const Fault& other) {
        if (other && (!*this || other.row < row || (other.row == row && other.column < column))) *this = other;
    }
};

// Dense rows, row-major.
template <class T>
struct Dense {
    const T* values;
    std::size_t rows;
    std::size_t columns;
    const T* row(std::size_t i) const { return values + i * columns; }
};

// Compressed sparse rows.
template <class T, class I>
struct Sparse {
    const T* values;
    const I* columns_of;
    const I* starts;
    std::size_t rows;
    std::size_t columns;
    std::size_t stored;
};

// The values that a family accepts: from low to high, after `binarize` has turned x > threshold into 1 and 0.
struct ValueRange {
    double low = -std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::max();
    bool binary = false;
    double threshold = 0.0;
};

template <class T>
NAIVELY_INLINE bool is_missing(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return x != x;
    else
        return false;
}

// True if a code is missing: NaN, or the lowest number of a signed type.
template <class T>
NAIVELY_INLINE bool is_missing_code(T x) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return x == std::numeric_limits<T>::min();
    else
        return is_missing(x);
}

template <class T>
NAIVELY_INLINE double valued(T x, const ValueRange& accepts) {
    const double value = static_cast<double>(x);
    if (!accepts.binary) return value;
    // compare in the type of the values, as NumPy does
    if constexpr (std::is_floating_point_v<T>) return x > static_cast<T>(accepts.threshold) ? 1.0 : 0.0;
    return value > accepts.threshold ? 1.0 : 0.0;
}

template <class T>
inline FaultKind fault_of(T x, const ValueRange& accepts) {
    const double value = static_cast<double>(x);
    if (is_missing(x)) return FaultKind::none;
    if (std::isinf(value)) return FaultKind::infinite;
    if (value < accepts.low || value > accepts.high) return FaultKind::out_of_range;
    return FaultKind::none;
}

// The same limits in the type of the values, so that whole numbers are compared as such, several at a time.
template <class T>
struct Limits {
    T low, high, threshold;
    bool binary;
    explicit Limits(const ValueRange& accepts)
        : low(up(accepts.low)), high(down(accepts.high)), threshold(down(accepts.threshold)), binary(accepts.binary) {}

   private:
    static T clamp(double x) {
        // 2^63 is the first double above every int64; for narrower types the largest value is a double itself.
        constexpr double top = std::is_same_v<T, std::int64_t> ? 9223372036854774784.0
                                                               : static_cast<double>(std::numeric_limits<T>::max());
        constexpr double bottom = static_cast<double>(std::numeric_limits<T>::lowest());
        if (x >= top) return std::numeric_limits<T>::max();
        return x <= bottom ? std::numeric_limits<T>::lowest() : static_cast<T>(x);
    }
    static T up(double x) { return clamp(std::is_integral_v<T> ? std::ceil(x) : x); }
    static T down(double x) { return clamp(std::is_integral_v<T> ? std::floor(x) : x); }
};

template <class T>
NAIVELY_INLINE bool all_accepted(const T* NAIVELY_RESTRICT x, std::size_t n, T low, T high) {
    int bad = 0;
    for (std::size_t j = 0; j < n; ++j) bad |= !(x[j] >= low) | !(x[j] <= high);
    return bad == 0;
}

// Call use(column, value) for every non-zero entry of row i, and miss(column) for every missing one.
template <class T, class I, class Use, class Miss>
NAIVELY_INLINE Fault each_entry(const Sparse<T, I>& rows, const ValueRange& accepts, std::size_t i, Use&& use,
                                Miss&& miss) {
    const auto row = static_cast<std::int64_t>(i);
    if (rows.starts[i] < 0 || rows.starts[i + 1] < rows.starts[i]) return {FaultKind::bad_index, row, -1};
    const auto begin = static_cast<std::size_t>(rows.starts[i]), end = static_cast<std::size_t>(rows.starts[i + 1]);
    if (end > rows.stored) return {FaultKind::bad_index, row, -1};
    for (std::size_t k = begin; k < end; ++k) {
        const auto column = static_cast<std::int64_t>(rows.columns_of[k]);
        if (column < 0 || static_cast<std::size_t>(column) >= rows.columns) return {FaultKind::bad_index, row, column};
        const T x = rows.values[k];
        if (is_missing(x)) {
            miss(column);
            continue;
        }
        const FaultKind kind = fault_of(x, accepts);
        if (kind != FaultKind::none) return {kind, row, column};
        const double value = valued(x, accepts);
        if (value != 0.0) use(column, value);
    }
    return {};
}

// The number of segments that rows are cut into. It depends on the shape of the work and not on the number of threads,
// so that sums of fractions are the same on any number of threads.
inline std::size_t segments(std::size_t elements, std::size_t accumulators) {
    if (accumulators > (std::size_t{1} << 20)) return 1;
    const std::size_t wanted = elements >> 19;
    return wanted < 1 ? 1 : (wanted > 8 ? 8 : wanted);
}

}  // namespace naively
