// Reads and writes UTF-8, and says of each code point if it is a letter, digit or space and how it is lowered.
// The properties are those of Python's unicodedata, and any bytes can be read: invalid ones give a replacement
// character.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wide.hpp"
#include "unicode_tables.hpp"

namespace naively {

constexpr std::uint32_t replacement = 0xfffd;  // stands for invalid UTF-8; it belongs to no word

struct Character {
    std::uint32_t point;
    std::uint32_t length;  // in bytes
};

NAIVELY_INLINE const unicode::Kind& kind_of(std::uint32_t point) {
    return unicode::kinds[unicode::blocks[unicode::index[point / unicode::block_size]][point % unicode::block_size]];
}

// The character at `at`, which must be before `end`. A byte that cannot begin a character is one replacement character.
inline Character character_at(const unsigned char* at, const unsigned char* end) {
    const auto continues = [&](std::size_t i) { return at + i < end && (at[i] & 0xc0) == 0x80; };
    const std::uint32_t first = at[0];
    if (first < 0x80) return {first, 1};
    if (first >= 0xc2 && first < 0xe0 && continues(1)) return {((first & 0x1f) << 6) | (at[1] & 0x3fu), 2};
    if (first >= 0xe0 && first < 0xf0 && continues(1) && continues(2)) {
        const std::uint32_t point = ((first & 0x0f) << 12) | ((at[1] & 0x3fu) << 6) | (at[2] & 0x3fu);
        if (point >= 0x800 && (point < 0xd800 || point >= 0xe000)) return {point, 3};
    }
    if (first >= 0xf0 && first < 0xf5 && continues(1) && continues(2) && continues(3)) {
        const std::uint32_t point =
            ((first & 0x07) << 18) | ((at[1] & 0x3fu) << 12) | ((at[2] & 0x3fu) << 6) | (at[3] & 0x3fu);
        if (point >= 0x10000 && point < 0x110000) return {point, 4};
    }
    return {replacement, 1};
}

// The character that ends before `end`, which must be behind `begin`.
inline Character character_before(const unsigned char* begin, const unsigned char* end) {
    for (std::uint32_t length = 1; length <= 4 && end - length >= begin; ++length) {
        const Character found = character_at(end - length, end);
        if (found.length == length && (length > 1 || found.point < 0x80)) return found;
    }
    return {replacement, 1};
}

// Write a code point as UTF-8; returns the number of bytes written.
inline std::size_t write_character(std::uint32_t point, char* to) {
    if (point < 0x80) {
        to[0] = static_cast<char>(point);
        return 1;
    }
    if (point < 0x800) {
        to[0] = static_cast<char>(0xc0 | (point >> 6));
        to[1] = static_cast<char>(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = static_cast<char>(0xe0 | (point >> 12));
        to[1] = static_cast<char>(0x80 | ((point >> 6) & 0x3f));
        to[2] = static_cast<char>(0x80 | (point & 0x3f));
        return 3;
    }
    to[0] = static_cast<char>(0xf0 | (point >> 18));
    to[1] = static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    to[2] = static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    to[3] = static_cast<char>(0x80 | (point & 0x3f));
    return 4;
}

}  // namespace naively
