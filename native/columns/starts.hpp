// Bins of numbers by their starts: counts the starts at or below each number.
// NaN reaches no start, and the result is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace naively {

constexpr std::size_t starts_run = 64;

// For each of `starts_run` numbers, count the starts (ascending) at or below it.
void count_starts(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes);

}  // namespace naively
