// Sixteen: sixteen bytes that are masked and compared together, in one register or two numbers.
// Both variants give the same answers.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/wide.hpp"

namespace naively {

struct Sixteen {
#if defined(NAIVELY_SSE2)
    __m128i bytes;

    static NAIVELY_INLINE Sixteen load(const void* from) {
        return {_mm_loadu_si128(static_cast<const __m128i*>(from))};
    }
    NAIVELY_INLINE Sixteen operator&(const Sixteen& other) const { return {_mm_and_si128(bytes, other.bytes)}; }

    // The first eight bytes.
    NAIVELY_INLINE std::uint64_t first() const {
        std::uint64_t eight;
        _mm_storel_epi64(reinterpret_cast<__m128i*>(&eight), bytes);
        return eight;
    }

    // Zero if both are the same.
    NAIVELY_INLINE std::uint32_t differ(const Sixteen& other) const {
        return 0xffffu ^ static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, other.bytes)));
    }
#else
    std::uint64_t bytes[2];

    static NAIVELY_INLINE Sixteen load(const void* from) {
        Sixteen sixteen;
        std::memcpy(sixteen.bytes, from, 16);
        return sixteen;
    }
    NAIVELY_INLINE Sixteen operator&(const Sixteen& other) const {
        return {{bytes[0] & other.bytes[0], bytes[1] & other.bytes[1]}};
    }
    NAIVELY_INLINE std::uint64_t first() const { return bytes[0]; }
    NAIVELY_INLINE std::uint64_t differ(const Sixteen& other) const {
        return (bytes[0] ^ other.bytes[0]) | (bytes[1] ^ other.bytes[1]);
    }
#endif
};

}  // namespace naively
