// A keyed 64-bit hash of bytes: eight bytes per step, each step a 128-bit product folded in half.
// Hashes depend only on the bytes and the seed, never on the machine, and no byte behind the end is read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "base/wide.hpp"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace naively {

static_assert(std::endian::native == std::endian::little, "bytes are read as numbers, the first lowest");

NAIVELY_INLINE std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    const std::uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    const std::uint64_t low = a0 * b0, first = a1 * b0 + (low >> 32), second = a0 * b1 + (first & 0xffffffff);
    return ((second << 32) | (low & 0xffffffff)) ^ (a1 * b1 + (first >> 32) + (second >> 32));
#endif
}

constexpr std::uint64_t salt_a = 0x9e3779b97f4a7c15ULL, salt_b = 0xd1b54a32d192ed03ULL;

NAIVELY_INLINE std::uint64_t load_eight(const char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

// The first sixteen bytes of a text as two numbers, lowest byte first; bytes behind the end count as zero.
struct Head {
    std::uint64_t first, second;
};

// Load the head without reading behind the end.
NAIVELY_INLINE Head load_head(const char* bytes, std::size_t length) {
    char block[16] = {};
    if (length > 0) std::memcpy(block, bytes, length < 16 ? length : 16);
    return {load_eight(block), load_eight(block + 8)};
}

// Load the head; sixteen bytes must be readable whatever the length.
NAIVELY_INLINE Head load_padded(const char* bytes, std::size_t length) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    static constexpr Head masks[17] = {
        {0, 0},           {all >> 56, 0},   {all >> 48, 0},   {all >> 40, 0},   {all >> 32, 0},   {all >> 24, 0},
        {all >> 16, 0},   {all >> 8, 0},    {all, 0},         {all, all >> 56}, {all, all >> 48}, {all, all >> 40},
        {all, all >> 32}, {all, all >> 24}, {all, all >> 16}, {all, all >> 8},  {all, all}};
    const Head& mask = masks[length < 16 ? length : 16];
    return {load_eight(bytes) & mask.first, load_eight(bytes + 8) & mask.second};
}

NAIVELY_INLINE std::uint64_t hash_bytes(const char* bytes, std::size_t length, const Head& head, std::uint64_t seed) {
    std::uint64_t h = fold(head.first ^ seed, head.second ^ (length * salt_b) ^ (seed << 1) ^ salt_a);
    for (std::size_t at = 16; at < length; at += 16) {
        const Head more = load_head(bytes + at, length - at);
        h = fold(more.first ^ seed ^ h, more.second ^ salt_a ^ (h << 1));
    }
    return h;
}

NAIVELY_INLINE std::uint64_t hash_number(std::uint64_t number, std::uint64_t seed) {
    return fold(number ^ seed, salt_a ^ (seed << 1));
}

// A seed drawn once per process, so that nobody can choose texts that collide in tables which live for one call.
inline const std::uint64_t process_seed = [] {
    std::random_device chance;
    return static_cast<std::uint64_t>(chance()) << 32 | chance();
}();

}  // namespace naively
