// Counting the rows of a matrix: sums per class and feature of values, codes and missing values.
// Sums are exact for whole values, and products with fractional weights are rounded once to 2^-64; no sum depends on
// the order of rows or the number of threads.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/rows.hpp"
#include "count/cells.hpp"

namespace naively {

// The class of each row, from 0 to classes - 1, and its weight (null: one each). Functions that weigh column by column
// need the weights in fixed point too: `counted`.
struct Labels {
    const std::int32_t* klass;
    const double* weight;
    std::size_t classes;
    std::vector<FixedPoint> counted;
    double weight_of(std::size_t i) const { return weight ? weight[i] : 1.0; }

    // The weight of a row in the type of its sums: whole numbers if rows weigh one each.
    template <class T>
    NAIVELY_INLINE T weight_as(std::size_t i) const {
        if constexpr (std::is_same_v<T, FixedPoint>)
            return !counted.empty() ? counted[i] : weight ? FixedPoint(weight[i]) : FixedPoint{std::int64_t{1}};
        else
            return T{1};
    }
};

constexpr double largest_whole = 9007199254740992.0;  // below 2^53 whole numbers are doubles

// Counts, either all whole or in fixed point; one of the two vectors is filled.
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

// Sums of values times weights per class and column; each product is rounded to a double and to 2^-64.
struct DenseCount {
    Numbers sum;      // classes x columns
    Numbers missing;  // counts of missing values, classes x columns; empty if nothing is missing
    Fault fault;
};

template <class T>
DenseCount count_dense(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts, int threads);

struct SparseCount {
    bool whole = true;  // false: all sums are in fixed point
    Cells<std::int64_t> cells, missing;
    Cells<FixedPoint> fixed_cells, fixed_missing;
    Fault fault;
};

template <class T, class I>
SparseCount count_sparse(const Sparse<T, I>& rows, const Labels& labels, const ValueRange& accepts, int threads);

struct CodeCount {
    std::vector<std::int64_t> sizes;  // for each column, the largest code seen plus one
    Numbers sum;                      // column after column: size x classes
    Numbers missing;                  // columns x classes; empty if nothing is missing
    Fault fault;
};

// Count codes, which are whole numbers from 0 on. A code above `largest` is a fault, and so is one with which the
// tables of all columns together would exceed a single table that ends with it.
template <class T>
CodeCount count_codes(const Dense<T>& rows, const Labels& labels, std::int64_t largest, int threads);

// Count the codes of one column: size x classes, then the missing ones. Returns false if a code is out of range.
bool count_column(const std::int32_t* codes, std::size_t rows, const Labels& labels, std::size_t size, Numbers& sums);

}  // namespace naively
