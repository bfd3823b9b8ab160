// Slices: values, their squares and their products with weights, cut into parts that doubles add up without rounding.
// A sum of slices is exact for up to `most_in_slices` values of the sizes that each kind of slices names.
//
// A sum starts at 1.5 * 2^(grid + 52), so that each added number is rounded to a multiple of 2^grid; the rest goes to
// the next sum. A slice is at most 2^39 multiples, so that 2^12 slices keep the last bit of the sum in place. The grids
// of a column follow from its `top`.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/lanes.hpp"

namespace naively {

constexpr std::size_t most_in_slices = 2000;         // number of values after which slices must be emptied
constexpr int highest_top = 400, lowest_top = -350;  // beyond these, products are not sums of doubles

// One double is handled like four.
NAIVELY_INLINE void load(double& to, const double* from) { to = *from; }
NAIVELY_INLINE void store(double* to, const double& from) { *to = from; }
NAIVELY_INLINE void fill(double& to, double value) { to = value; }

// product + error = a * b, exactly.
template <bool fused, class V>
NAIVELY_INLINE void multiply(const V& a, const V& b, V& product, V& error) {
    product = a * b;
    if constexpr (!fused) {  // in halves of 26 bits, after Dekker (1971)
        V split;
        fill(split, 134217729.0);
        const V far_a = a * split, far_b = b * split;
        const V high_a = far_a - (far_a - a), high_b = far_b - (far_b - b);
        const V low_a = a - high_a, low_b = b - high_b;
        error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
    } else if constexpr (std::is_same_v<V, double>) {
        error = std::fma(a, b, -product);
    } else {
        for (std::size_t i = 0; i < lanes; ++i) error[i] = std::fma(a[i], b[i], -product[i]);
    }
}

// Add to a sum of slices, and subtract from x the part that was added.
template <class V>
NAIVELY_INLINE void cut_into(V& x, V& sum) {
    const V after = sum + x;
    x = x - (after - sum);
    sum = after;
}

template <class V>
NAIVELY_INLINE void cut(V& x, double* sum) {
    V slice;
    load(slice, sum);
    cut_into(x, slice);
    store(sum, slice);
}

// Add the rest, which is a multiple of the sum's grid.
template <class V>
NAIVELY_INLINE void add_last(const V& x, double* sum) {
    V before;
    load(before, sum);
    store(sum, before + x);
}

// The slices of the sums of x and x * x, `lanes` apart, and their grids.
//
// This version is for doubles of weight one that are zero or from 2^(top - 13) to 2^top; x * x is a product and its
// error.
struct DoubleSlices {
    static constexpr bool weighted = false;
    static constexpr int range = 13;
    static constexpr std::size_t of_value = 2, all = 6;

    static int grid(std::size_t slice, int top, int) {
        constexpr int below[all] = {39, 79, 39, 79, 93, 133};
        return (slice < of_value ? top : 2 * top) - below[slice];
    }

    template <bool fused, class V>
    static NAIVELY_INLINE void add(const V& value, const V&, double* sums, V&) {
        V x = value, product, error;
        multiply<fused>(x, x, product, error);
        cut(x, sums);
        add_last(x, sums + lanes);
        cut(product, sums + 2 * lanes);
        add_last(product, sums + 3 * lanes);
        cut(error, sums + 4 * lanes);
        add_last(error, sums + 5 * lanes);
    }
};

// A version for multiples of 2^(top - 39): float32 from 2^(top - 15) on, and whole numbers.
struct ShortSlices {
    static constexpr bool weighted = false;
    static constexpr int range = 15;
    static constexpr std::size_t of_value = 1, all = 3;

    static int grid(std::size_t slice, int top, int) {
        constexpr int below[all] = {39, 39, 79};
        return (slice < of_value ? top : 2 * top) - below[slice];
    }

    template <bool fused, class V>
    static NAIVELY_INLINE void add(const V& x, const V&, double* sums, V&) {
        V product, error;
        multiply<fused>(x, x, product, error);
        add_last(x, sums);
        cut(product, sums + lanes);
        add_last(product + error, sums + 2 * lanes);
    }
};

// A version for values from 2^(top - 10) to 2^top with weights from 2^(t - 7) to 2^t: sums of w * x and of w * x * x,
// the latter as two products and their errors. The third may have bits below its last slice; `left` returns these.
struct WeightedSlices {
    static constexpr bool weighted = true;
    static constexpr int range = 10, weight_range = 7;
    static constexpr std::size_t of_value = 4, all = 10;

    static int grid(std::size_t slice, int top, int weight_top) {
        constexpr int below[all] = {39, 79, 93, 133, 39, 79, 93, 133, 146, 186};
        return (slice < of_value ? top : 2 * top) + weight_top - below[slice];
    }

    template <bool fused, class V>
    static NAIVELY_INLINE void add(const V& x, const V& weight, double* sums, V& left) {
        V product, error, first, first_error, second, second_error;
        multiply<fused>(weight, x, product, error);
        multiply<fused>(x, product, first, first_error);
        multiply<fused>(x, error, second, second_error);
        add_both(product, sums);
        add_both(error, sums + 2 * lanes);
        add_both(first, sums + 4 * lanes);
        cut(first_error, sums + 6 * lanes);
        cut(second, sums + 6 * lanes);
        add_last(first_error, sums + 7 * lanes);
        cut(second, sums + 7 * lanes);
        add_both(second_error, sums + 8 * lanes);
        left = second;
    }

   private:
    template <class V>
    static NAIVELY_INLINE void add_both(V& x, double* sums) {
        cut(x, sums);
        add_last(x, sums + lanes);
    }
};

}  // namespace naively
