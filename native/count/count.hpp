// Counting: what each class and feature add up to.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/rows.hpp"
#include "count/cells.hpp"

namespace naively {

// Each row's class, from 0 to classes - 1, and what the row weighs (null: one each). What is asked for weights column
// by column has them in fixed point, `counted`, as well.
struct Labels {
    const std::int32_t* klass;
    const double* weight;
    std::size_t classes;
    std::vector<FixedPoint> counted;
    double weight_of(std::size_t i) const { return weight ? weight[i] : 1.0; }

    // The weight of a row in the type of its sums: whole numbers where rows weigh one each.
    template <class T>
    NAIVELY_INLINE T weight_as(std::size_t i) const {
        if constexpr (std::is_same_v<T, FixedPoint>)
            return !counted.empty() ? counted[i] : weight ? FixedPoint(weight[i]) : FixedPoint{std::int64_t{1}};
        else
            return T{1};
    }
};

constexpr double largest_whole = 9007199254740992.0;  // below 2^53, whole numbers are doubles

// Counts that are all whole, or some of them not; one of the two is filled.
struct Numbers {
    std::vector<std::int64_t> whole;
    std::vector<FixedPoint> fixed;

    Numbers() = default;
    explicit Numbers(std::vector<std::int64_t>&& values) : whole(std::move(values)) {}
    explicit Numbers(std::vector<FixedPoint>&& values) : fixed(std::move(values)) {}
    void push(std::int64_t value) { whole.push_back(value); }
    void push(const FixedPoint& value) { fixed.push_back(value); }
    std::size_t size() const { return std::max(whole.size(), fixed.size()); }
    bool empty() const { return size() == 0; }
};

// Sums for each class and column, of values times weights, each product rounded to a double and to 2^-64.
struct DenseCount {
    Numbers sum;      // classes x columns
    Numbers missing;  // the same, or empty where nothing is missing
    Fault fault;
};

template <class T>
DenseCount count_dense(const Dense<T>& rows, const Labels& labels, const Accepts& accepts, int threads);

struct SparseCount {
    bool whole = true;  // else all sums are in fixed point
    Cells<std::int64_t> cells, missing;
    Cells<FixedPoint> fixed_cells, fixed_missing;
    Fault fault;
};

template <class T, class I>
SparseCount count_sparse(const Sparse<T, I>& rows, const Labels& labels, const Accepts& accepts, int threads);

struct CodeCount {
    std::vector<std::int64_t> sizes;  // for each column, one more than the largest code seen
    Numbers sum;                      // column after column: size x classes
    Numbers missing;                  // columns x classes, or empty where nothing is missing
    Fault fault;
};

// Whole numbers from 0 on, each a category. A code above `largest` is a fault, and so is one with which the tables of
// all columns would take more room than a single one with that code.
template <class T>
CodeCount count_codes(const Dense<T>& rows, const Labels& labels, std::int64_t largest, int threads);

// How often each class has each of `size` codes in one column, size x classes; and behind these what is missing. False
// where a code is out of range.
bool count_column(const std::int32_t* codes, std::size_t rows, const Labels& labels, std::size_t size, Numbers& sums);

}  // namespace naively
