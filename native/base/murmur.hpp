// MurmurHash3 in its 32-bit form (Appleby), the hash that scikit-learn uses for feature hashing.
// The same text gives the same hash on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace naively {

inline std::uint32_t murmur(const char* bytes, std::size_t length) {
    constexpr std::uint32_t first = 0xcc9e2d51, second = 0x1b873593;
    const auto scrambled = [](std::uint32_t k) { return std::rotl(k * first, 15) * second; };
    std::uint32_t h = 0;
    std::size_t at = 0;
    for (; at + 4 <= length; at += 4) {
        std::uint32_t k;
        std::memcpy(&k, bytes + at, 4);
        h = std::rotl(h ^ scrambled(k), 13) * 5 + 0xe6546b64;
    }
    if (at < length) {
        std::uint32_t k = 0;
        std::memcpy(&k, bytes + at, length - at);
        h ^= scrambled(k);
    }
    h ^= static_cast<std::uint32_t>(length);
    h = (h ^ (h >> 16)) * 0x85ebca6b;
    h = (h ^ (h >> 13)) * 0xc2b2ae35;
    return h ^ (h >> 16);
}

}  // namespace naively
