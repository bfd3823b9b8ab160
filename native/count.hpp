// Counting: what each class and feature add up to.
#pragma once

#include <vector>

#include "cells.hpp"
#include "rows.hpp"

namespace naively {

// Each row's class, from 0 to classes - 1, and what the row weighs (null: one each).
struct Labels {
    const std::int32_t* klass;
    const double* weight;
    std::size_t classes;
    double weight_of(std::size_t i) const { return weight ? weight[i] : 1.0; }
};

struct DenseCount {
    std::vector<double> sum;      // classes x columns
    std::vector<double> missing;  // the same, or empty where nothing is missing
    Fault fault;
};

template <class T>
DenseCount count_dense(const Dense<T>& rows, const Labels& labels, const Accepts& accepts, int threads);

struct SparseCount {
    Cells<double> cells;
    Cells<double> missing;
    Fault fault;
};

template <class T, class I>
SparseCount count_sparse(const Sparse<T, I>& rows, const Labels& labels, const Accepts& accepts, int threads);

struct CodeCount {
    std::vector<std::int64_t> sizes;  // for each column, one more than the largest code seen
    std::vector<double> sum;          // column after column: size x classes
    std::vector<double> missing;      // columns x classes, or empty where nothing is missing
    Fault fault;
};

// Whole numbers from 0 on, each a category. A code above `largest` is a fault, and so is one with which the tables of
// all columns would take more room than a single one with that code.
template <class T>
CodeCount count_codes(const Dense<T>& rows, const Labels& labels, std::int64_t largest, int threads);

// How often each class has each of `size` codes in one column, size x classes; and behind these what is missing. False
// where a code is out of range.
bool count_column(const std::int32_t* codes, std::size_t rows, const Labels& labels, std::size_t size,
                  std::vector<double>& sums);

}  // namespace naively
