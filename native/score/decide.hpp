// Deciding: finds the class with the highest score in each row.
// Of equal scores the first class wins, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace naively {

// out[i] = the first c for which score[i][c] + prior[c] is highest; rows of scores lie `stride` apart.
void decide(const double* score, std::size_t stride, const double* prior, std::size_t rows, std::size_t classes,
            std::int64_t* out);

}  // namespace naively
