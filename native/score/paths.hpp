// Sums for many smoothings at once: a path of k numbers wherever there would be one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/rows.hpp"

namespace naively {

// The cells of feature f are starts[f] to starts[f + 1]; cell j belongs to class klass_of[j] and adds, for each unit
// of the feature, row row_of[j] of `path` (rows x width, width a multiple of `lanes`). Each unit of a row adds `base`
// (classes x width) besides.
struct CellPaths {
    const std::int64_t* starts;
    const std::int32_t* klass_of;
    const std::int64_t* row_of;
    const double* path;
    const double* base;
    std::size_t features, cells, rows, classes, width;
};

// out[k][i][c], for the first `many` of the numbers: the sum over the entries of row i, and their cells of class c, of
// x * path, and the row's base. What is out of range throws invalid_argument.
template <class T, class I>
void score_paths(const Sparse<T, I>& rows, const CellPaths& cells, std::size_t many, double* out, int threads);

// Whether a row names a column more than once. What is out of range throws invalid_argument.
template <class I>
bool names_twice(const I* columns_of, const I* starts, std::size_t rows, std::size_t columns, std::size_t stored);

// out[i] = sum over the entries of row i of x * log(left + alpha), for each alpha; width numbers each.
struct LogPaths {
    const double* x;
    const double* left;
    const std::int64_t* starts;
    std::size_t rows, entries;
    const double* alpha;
    std::size_t width;
};

void sum_log_paths(const LogPaths& sums, double* out, int threads);

}  // namespace naively
