// Scores for many smoothing parameters at once: each number becomes a path of k numbers.
// Results do not depend on the number of threads, and an index out of range throws invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/rows.hpp"

namespace naively {

// The cells of feature f are starts[f] to starts[f + 1]; cell j belongs to class klass_of[j] and adds, for each unit of
// the feature, row row_of[j] of `path` (rows x width, width a multiple of `lanes`). Each unit of a row adds `base`
// (classes x width) too.
struct CellPaths {
    const std::int64_t* starts;
    const std::int32_t* klass_of;
    const std::int64_t* row_of;
    const double* path;
    const double* base;
    std::size_t features, cells, rows, classes, width;
};

// out[k][i][c] for the first `path_length` parameters: the sum over the entries of row i, and their cells of class c,
// of x * path, plus the row's base.
template <class T, class I>
void score_paths(const Sparse<T, I>& rows, const CellPaths& cells, std::size_t path_length, double* out, int threads);

// True if a row has a column more than once.
template <class I>
bool names_twice(const I* columns_of, const I* starts, std::size_t rows, std::size_t columns, std::size_t stored);

// out[i] = sum over the entries of row i of x * log(left + alpha), for each alpha; `width` numbers each.
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
