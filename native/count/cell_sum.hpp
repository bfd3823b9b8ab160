// CellSum: a growing sum of cells, to which many more are added without copying the sum for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/pages.hpp"
#include "count/cells.hpp"

namespace naively {

// Cells that are added wait, in any order, until there are half as many of them as of those that are sorted; then they
// are sorted in. So each is copied a few times only. A sum beyond 64 bits is an overflow_error, after which the object
// is of no use.
class CellSum {
   public:
    static constexpr std::int64_t features = std::int64_t{1} << 32;  // must be below

    explicit CellSum(std::size_t planes) : width_(1 + planes) {}

    void add(const CellsView<std::int64_t>& cells);
    // All that was added, sorted by feature, then class, without cells that come to nothing; the sum is then empty.
    Cells<std::int64_t> take();

   private:
    static constexpr std::size_t fewest = std::size_t{1} << 20;
    using Cell = const std::uint64_t*;  // the feature above the class, then a value for each plane

    std::size_t waiting() const { return waiting_.size() / width_; }
    Cell at(std::size_t number) const { return waiting_.data() + number * width_; }
    std::uint32_t feature_at(std::size_t number) const { return static_cast<std::uint32_t>(*at(number) >> 32); }
    Large<std::uint32_t> order() const;
    void settle();

    std::size_t width_;  // of a cell
    Large<std::uint64_t> waiting_, sorted_;
    Large<std::uint64_t> spare_;  // room for what is sorted next: memory that was in use costs less than new
};

}  // namespace naively
