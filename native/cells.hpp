// Cells: what was seen, one entry for each pair of feature and class, sorted by feature, then class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

template <class T>
struct Cells {
    std::vector<std::int64_t> feature;
    std::vector<std::int32_t> klass;
    std::vector<T> value;  // plane after plane, each as long as feature
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
// at which a fault was found. A difference must not fall below zero; one within rounding of it is zero.
template <class T>
SumFault sum_cells(const CellsView<T>& left, const CellsView<T>& right, std::size_t planes, bool subtract,
                   Cells<T>& result, std::size_t& at);

// The positions of the cells of these features (sorted, each once), in order.
std::vector<std::int64_t> find_cells(const std::int64_t* feature, std::size_t size, const std::int64_t* wanted,
                                     std::size_t count);

}  // namespace naively
