// Bins of numbers: how many of the numbers at which they begin a number has reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace naively {

constexpr std::size_t starts_run = 64;

// For each of `starts_run` numbers, how many of some starts, ascending, it has reached.
void count_starts(const double* x, const double* starts, std::size_t many, std::int32_t* codes);

}  // namespace naively
