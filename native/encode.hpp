// Gives equal records equal numbers, in the order in which they first appear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

// codes[i] is the number of record i; the result holds the position of each number's first record.
std::vector<std::int64_t> encode_records(const std::uint8_t* records, std::size_t count, std::size_t width,
                                         std::int32_t* codes);

}  // namespace naively
