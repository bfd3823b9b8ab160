// Block: eight or sixteen bytes of ASCII text that are classified (letter, digit, space) and lowered together.
// Both sizes give the same answers; bytes beyond ASCII are reported and left as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/wide.hpp"

namespace naively {

#if defined(NAIVELY_SSE2)

// Sixteen bytes. Comparisons are of signed bytes, so that bytes beyond ASCII are below all others.
struct Block {
    static constexpr std::size_t size = 16;
    __m128i bytes;

    static NAIVELY_INLINE Block load(const void* from) { return {_mm_loadu_si128(static_cast<const __m128i*>(from))}; }
    NAIVELY_INLINE void store(void* to) const { _mm_storeu_si128(static_cast<__m128i*>(to), bytes); }

    // One bit per byte: is it beyond ASCII?
    NAIVELY_INLINE std::uint32_t beyond_ascii() const { return bits(bytes); }
    NAIVELY_INLINE std::uint32_t in_words() const {
        const __m128i letters = Block{_mm_or_si128(bytes, _mm_set1_epi8(0x20))}.within('a', 'z');
        const __m128i others = _mm_or_si128(within('0', '9'), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
        return bits(_mm_or_si128(letters, others));
    }
    NAIVELY_INLINE std::uint32_t in_no_space() const {
        const __m128i blank = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
        return 0xffffu & ~bits(_mm_or_si128(blank, _mm_or_si128(within(9, 13), within(0x1c, 0x1f))));
    }

    NAIVELY_INLINE Block lowered() const {
        return {_mm_add_epi8(bytes, _mm_and_si128(within('A', 'Z'), _mm_set1_epi8(0x20)))};
    }

   private:
    static NAIVELY_INLINE std::uint32_t bits(__m128i marks) {
        return static_cast<std::uint32_t>(_mm_movemask_epi8(marks));
    }
    NAIVELY_INLINE __m128i within(char low, char high) const {
        return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                             _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
    }
};

#else

// Eight bytes in one number. The answers hold only if all bytes are below 128: then no sum carries into its neighbour.
struct Block {
    static constexpr std::size_t size = 8;
    std::uint64_t bytes;

    static NAIVELY_INLINE Block load(const void* from) {
        Block block;
        std::memcpy(&block.bytes, from, 8);
        return block;
    }
    NAIVELY_INLINE void store(void* to) const { std::memcpy(to, &bytes, 8); }

    NAIVELY_INLINE std::uint32_t beyond_ascii() const { return bits(bytes & tops); }
    NAIVELY_INLINE std::uint32_t in_words() const {
        return bits(Block{bytes | (ones * 0x20)}.within('a', 'z') | within('0', '9') | within('_', '_'));
    }
    NAIVELY_INLINE std::uint32_t in_no_space() const {
        return 0xffu & ~bits(within(' ', ' ') | within(9, 13) | within(0x1c, 0x1f));
    }

    NAIVELY_INLINE Block lowered() const { return {bytes + (within('A', 'Z') >> 2)}; }

   private:
    static constexpr std::uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;

    static NAIVELY_INLINE std::uint32_t bits(std::uint64_t top_bits) {
        return static_cast<std::uint32_t>((top_bits * 0x0002040810204081ULL) >> 56);
    }
    NAIVELY_INLINE std::uint64_t within(unsigned low, unsigned high) const {
        const std::uint64_t plain = bytes & ~tops;
        return (plain + ones * (0x80 - low)) & ~(plain + ones * (0x7f - high)) & tops;
    }
};

#endif

}  // namespace naively
