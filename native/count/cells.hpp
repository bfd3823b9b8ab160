// Cells: what was seen, one entry for each pair of feature and class, sorted by feature, then class.
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
    Large<T> value;  // plane after plane, each as long as feature
};

template <class T>
struct CellsView {
    const std::int64_t* feature;
    const std::int32_t* klass;
    const T* value;
    std::size_t size;
};

enum class SumFault : int { none = 0, overflow = 1, negative = 2 };

// left + right, or left - right; cells that come to nothing are left out. `at` is the position in `right`
// at which a fault was found. A difference must not fall below zero.
template <class T>
SumFault sum_cells(const CellsView<T>& left, const CellsView<T>& right, std::size_t planes, bool subtract,
                   Cells<T>& result, std::size_t& at);

// Cells whose features have got other numbers, in order again. Those of one feature stand together and stay as they
// are; no two features have become one.
template <class T>
Cells<T> regrouped(const CellsView<T>& cells, std::size_t planes);

// What the cells of these pairs (sorted as cells are) hold, plane after plane; 0 where there is no such cell.
template <class T>
std::vector<T> look_up(const CellsView<T>& cells, std::size_t planes, const std::int64_t* feature,
                       const std::int32_t* klass, std::size_t count);

// The cells of these features (sorted, each once) in several layers, added up; numbered by their place in `wanted`.
template <class T>
Cells<T> gather(const std::vector<CellsView<T>>& layers, std::size_t planes, const std::int64_t* wanted,
                std::size_t count);

// How many cells come to be of each kind, and cease to be, when `added` is added to pairs that held `before`. A kind is
// a count and a number of missing values (two planes), written as count << 31 | missing; nothing at all is no kind.
Cells<std::int64_t> changed_kinds(const std::int64_t* before, const std::int64_t* added, const std::int32_t* klass,
                                  std::size_t count);

// The sum of each plane for each class, planes x classes. Classes must be below `classes`.
template <class T>
std::vector<FixedPoint> totals(const CellsView<T>& cells, std::size_t planes, std::size_t classes);

}  // namespace naively
