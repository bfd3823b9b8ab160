// Cells: counts of (feature, class) pairs, sorted by feature, then class; a pair that is absent has count zero.
// Every function here returns cells in this order, and reports an overflow or a count below zero instead of wrapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fixed_point.hpp"
#include "base/pages.hpp"

namespace naively {

template <class T>
struct Cells {
    Large<std::int64_t> feature;
    Large<std::int32_t> klass;
    Large<T> value;  // plane after plane, each as long as `feature`
};

template <class T>
struct CellsView {
    const std::int64_t* feature;
    const std::int32_t* klass;
    const T* value;
    std::size_t size;
};

enum class SumFault : int { none = 0, overflow = 1, negative = 2 };

// left + right, or left - right, without cells of zeros. `at` is the position in `right` where a fault was found. A
// difference must not fall below zero.
template <class T>
SumFault sum_cells(const CellsView<T>& left, const CellsView<T>& right, std::size_t planes, bool subtract,
                   Cells<T>& result, std::size_t& at);

// Renumber the features of cells and sort them again. No two features may get the same number.
template <class T>
Cells<T> regrouped(const CellsView<T>& cells, std::size_t planes);

// The values of these pairs, which are sorted as cells are, plane after plane; 0 for a pair without a cell.
template <class T>
std::vector<T> look_up(const CellsView<T>& cells, std::size_t planes, const std::int64_t* feature,
                       const std::int32_t* klass, std::size_t count);

// The cells of these features (sorted, each once) in several layers, added up; features are numbered by their place in
// `wanted`.
template <class T>
Cells<T> gather(const std::vector<CellsView<T>>& layers, std::size_t planes, const std::int64_t* wanted,
                std::size_t count);

// How a histogram of counts changes if `added` is added to pairs that hold `before`: for each kind of cell, the number
// of cells that become of this kind less the number that cease to be. A kind is a count and a number of missing values
// (two planes), written as count << 31 | missing; zero is no kind.
Cells<std::int64_t> histogram_change(const std::int64_t* before, const std::int64_t* added, const std::int32_t* klass,
                                     std::size_t count);

// The sum of each plane for each class, planes x classes. All classes must be below `classes`.
template <class T>
std::vector<FixedPoint> totals(const CellsView<T>& cells, std::size_t planes, std::size_t classes);

}  // namespace naively
