// Supervised binning: cuts a numeric column where that separates the classes.
// The cuts depend only on the counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

// Cut in two, recursively, as long as that shortens the description of the labels (Fayyad & Irani, 1993). `counts` are
// cells x classes; the result holds the first cell of each part but the first, ascending.
std::vector<std::int64_t> description_length_cuts(const double* counts, std::size_t cells, std::size_t classes);

}  // namespace naively
