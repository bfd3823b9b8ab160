// Blocks of columns as exact sums read them: row by row, from a matrix or from separate columns.
// Numbers are converted to double as they are read, which loses nothing except in 64-bit integers above 2^53.
#pragma once

#include <algorithm>
#include <vector>

#include "base/rows.hpp"

namespace naively {

// One column of any numeric type.
struct NumberColumn {
    const void* values;
    bool whole;  // true for integers
    void (*copy)(const void* values, std::size_t begin, std::size_t end, double* to, std::size_t step);

    template <class T>
    explicit NumberColumn(const T* from)
        : values(from),
          whole(std::is_integral_v<T>),
          copy([](const void* all, std::size_t begin, std::size_t end, double* to, std::size_t step) {
              const T* value = static_cast<const T*>(all);
              for (std::size_t i = begin; i < end; ++i, to += step) *to = static_cast<double>(value[i]);
          }) {}
};

// Separate columns.
struct NumberColumns {
    std::vector<NumberColumn> column;
    std::size_t rows, columns;
};

template <class T>
double value_at(const Dense<T>& rows, std::size_t i, std::size_t j) {
    return static_cast<double>(rows.row(i)[j]);
}

inline double value_at(const NumberColumns& rows, std::size_t i, std::size_t j) {
    double value;
    rows.column[j].copy(rows.column[j].values, i, i + 1, &value, 1);
    return value;
}

// Some columns of a matrix.
template <class T>
class MatrixBlock {
   public:
    using Value = T;
    MatrixBlock(const Dense<T>& rows, std::size_t first, std::size_t)
        : values_(rows.values + first), step_(rows.columns) {}
    const T* row(std::size_t i) const { return values_ + i * step_; }
    bool whole(std::size_t) const { return std::is_integral_v<T>; }

   private:
    const T* values_;
    std::size_t step_;
};

// Some of the separate columns. Rows are read in ascending order; a few at a time are copied side by side.
class ColumnBlock {
   public:
    using Value = double;
    ColumnBlock(const NumberColumns& rows, std::size_t first, std::size_t columns)
        : rows_(rows), first_(first), columns_(columns), many_(std::clamp<std::size_t>(4096 / columns, 8, 256)) {}

    const double* row(std::size_t i) {
        if (i < begin_ || i >= end_) copy(i);
        return &values_[(i - begin_) * columns_];
    }
    bool whole(std::size_t j) const { return rows_.column[first_ + j].whole; }

   private:
    void copy(std::size_t i) {
        begin_ = i;
        end_ = std::min(i + many_, rows_.rows);
        values_.resize(many_ * columns_);
        for (std::size_t j = 0; j < columns_; ++j) {
            const NumberColumn& from = rows_.column[first_ + j];
            from.copy(from.values, begin_, end_, &values_[j], columns_);
        }
    }

    const NumberColumns& rows_;
    std::size_t first_, columns_, many_, begin_ = 0, end_ = 0;
    std::vector<double> values_;
};

template <class T>
MatrixBlock<T> block_of(const Dense<T>& rows, std::size_t first, std::size_t columns);
ColumnBlock block_of(const NumberColumns& rows, std::size_t first, std::size_t columns);

template <class Source>
using BlockOf = decltype(block_of(std::declval<const Source&>(), 0, 0));

}  // namespace naively
