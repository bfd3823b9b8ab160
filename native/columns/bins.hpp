// Where to cut a column of numbers so that its parts tell the classes apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

// Cuts in two, again and again, as long as that shortens the description of the labels (Fayyad & Irani, 1993). `counts`
// are cells x classes; a cut is the first cell of a part. Ascending.
std::vector<std::int64_t> description_length_cuts(const double* counts, std::size_t cells, std::size_t classes);

}  // namespace naively
