// Encoding: gives equal records, texts or whole numbers equal codes.
// Records and texts are numbered in order of first appearance, whole numbers in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "count/count.hpp"
#include "text/text_codes.hpp"

namespace naively {

// codes[i] is the number of record i; the result holds the position of each number's first record. The hash has a
// random key, which no code depends on.
std::vector<std::int64_t> encode_records(const std::uint8_t* records, std::size_t count, std::size_t width,
                                         std::int32_t* codes);

// The same for texts; the code of a missing one is -1.
template <class Offset>
std::vector<std::int64_t> encode_strings(const Strings<Offset>& strings, std::uint64_t seed, std::int32_t* codes);

// Codes of whole numbers.
struct WholeCodes {
    std::vector<std::int32_t> codes;     // the place of each number among the distinct ones; -1 if it is missing
    std::vector<std::int64_t> distinct;  // ascending
    std::int64_t odd = -1;               // the first row with a fraction or an infinity
    bool narrow = true;                  // false if the numbers lie too far apart for this, and nothing was done
};

template <class T>
WholeCodes whole_codes(const T* values, std::size_t rows);

// Counts of each whole number by class.
struct WholeCount {
    std::vector<std::int64_t> number;  // ascending
    std::vector<std::int32_t> klass;
    Numbers value;
    Numbers missing;  // per class
    std::int64_t odd = -1;
    bool narrow = true;
};

template <class T>
WholeCount count_whole(const T* values, std::size_t rows, const Labels& labels);

}  // namespace naively
