// Scoring: the sum, for each row and class, of a constant and of a term per entry.
// Scores do not depend on the number of threads, and the first entry that cannot be used is returned as a fault.
#pragma once

#include "base/lanes.hpp"
#include "base/rows.hpp"
#include "columns/columns.hpp"

namespace naively {

// The faults and notes that a kernel returns.
struct Findings {
    bool missing = false;
    Fault fault;
};

// out[i][c] = base[c] + sum over columns of x * weight[column][c]; missing entries add nothing. Rows of weights are
// padded with zeros to `stride`, a multiple of `lanes`.
struct Weights {
    const double* weight;  // columns x stride
    const double* base;    // stride
    std::size_t classes;
    std::size_t stride;
};

template <class T>
Findings score_dense(const Dense<T>& rows, const Weights& weights, const ValueRange& accepts, double* out, int threads);

template <class T, class I>
Findings score_sparse(const Sparse<T, I>& rows, const Weights& weights, const ValueRange& accepts, double* out,
                      int threads);

// The same for weights stored only where something was seen: weight[f][c] = feature[f] + klass[c] + delta[f][c], the
// deltas of feature f being the cells starts[f] to starts[f + 1]. They are checked where they are used: throws
// invalid_argument.
struct CellWeights {
    const std::int64_t* starts;
    const std::int32_t* klass_of;
    const double* delta;
    const double* feature;  // columns
    const double* klass;    // classes
    const double* base;     // classes
    std::size_t classes;
    std::size_t size;  // number of cells
};

template <class T, class I>
Findings score_cells(const Sparse<T, I>& rows, const CellWeights& weights, const ValueRange& accepts, double* out,
                     int threads);

// Code k of column j adds row offsets[j] + k of the weights; a code of sizes[j] or more adds row j of `unseen`.
struct CodeWeights {
    const double* weight;  // codes x stride
    const double* unseen;  // columns x stride
    const double* base;    // stride
    const std::int64_t* offsets;
    const std::int64_t* sizes;
    std::size_t classes;
    std::size_t stride;
};

template <class T>
Findings score_codes(const Dense<T>& rows, const CodeWeights& weights, double* out, int threads);

// Columns that are read as codes a few rows at a time, and the weights of these codes.
struct CodeTerm {
    Columns columns;
    CodeWeights weights;
};

// The sum of several terms, whose weights have the same classes and stride. A fault's column is counted over all terms.
Findings score_columns(const std::vector<CodeTerm>& terms, std::size_t rows, std::size_t classes, std::size_t stride,
                       double* out, int threads);

// out[i] = the first class whose sum plus prior is highest.
Findings decide_columns(const std::vector<CodeTerm>& terms, std::size_t rows, std::size_t classes, std::size_t stride,
                        const double* prior, std::int64_t* out, int threads);

// out[i][c] = base[c] + sum over columns of constant[c][j] - (x - mean[c][j])^2 * half_precision[c][j].
struct Normal {
    const double* mean;
    const double* half_precision;
    const double* constant;
    const double* base;
    std::size_t classes;
};

template <class T>
Findings score_normal(const Dense<T>& rows, const Normal& normal, double* out, int threads);

}  // namespace naively
