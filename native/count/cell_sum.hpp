// CellSum: a growing sum of cells, to which cells can be added many times without copying the sum each time.
// The result does not depend on the order of additions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/pages.hpp"
#include "count/cells.hpp"

namespace naively {

// Added cells wait unsorted until there are half as many as sorted ones; then they are merged. So each cell is copied
// only a few times. A sum beyond 64 bits raises overflow_error, after which the object must not be used.
class CellSum {
   public:
    static constexpr std::int64_t features = std::int64_t{1} << 32;  // features must be below this

    explicit CellSum(std::size_t planes) : width_(1 + planes) {}

    void add(const CellsView<std::int64_t>& cells);
    // Return the sum, sorted by feature, then class, without cells of zeros, and leave the object empty.
    Cells<std::int64_t> take();

   private:
    static constexpr std::size_t fewest = std::size_t{1} << 20;
    using Cell = const std::uint64_t*;  // the feature above the class, then a value per plane

    std::size_t waiting() const { return waiting_.size() / width_; }
    Cell at(std::size_t number) const { return waiting_.data() + number * width_; }
    std::uint32_t feature_at(std::size_t number) const { return static_cast<std::uint32_t>(*at(number) >> 32); }
    Large<std::uint32_t> order() const;
    void settle();

    std::size_t width_;  // numbers in a cell
    Large<std::uint64_t> waiting_, sorted_;
    Large<std::uint64_t> spare_;  // memory for the next merge: memory in use costs less than new
};

}  // namespace naively
