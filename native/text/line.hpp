// Line: a piece of text prepared for cutting into words: lowered, with one bit per byte that belongs to a word.
// LineReader cuts a text only at spaces, so the words of its pieces are the words of the text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/wide.hpp"

namespace naively {

enum class TokenKind : int {
    words = 0,    // runs of letters, marks, digits and connectors; pairs of characters in scripts without spaces
    sklearn = 1,  // runs of two or more characters that match Python's \w
    chars = 2,    // sequences of characters within a word, with a space on either side
    stream = 3,   // sequences of characters of the whole text, where several spaces are one
};

constexpr std::string_view negation_mark = "NOT_";

struct LineRules {
    TokenKind kind = TokenKind::words;
    bool lower = true;
    bool negation = false;  // put NOT_ before words that follow a negator, up to the next punctuation
};

struct Line {
    std::vector<char> bytes;            // longer than `length`, so that sixteen bytes can be read anywhere
    std::vector<std::uint64_t> inside;  // one bit per byte; none is set from `length` on
    std::size_t length = 0;

    void clear();
    // Call use(begin, end) for every word.
    template <class Use>
    NAIVELY_INLINE void each_word(Use&& use) const {
        std::size_t begin = 0;
        std::uint64_t before = 0;
        for (std::size_t base = 0; base <= length; base += 64) {
            const std::uint64_t bits = inside[base / 64];
            std::uint64_t changes = bits ^ ((bits << 1) | before);
            if (before && changes) {  // the first change ends a word that began in the bits before
                use(begin, base + static_cast<std::size_t>(std::countr_zero(changes)));
                changes &= changes - 1;
            }
            while (changes) {
                begin = base + static_cast<std::size_t>(std::countr_zero(changes));
                changes &= changes - 1;
                if (!changes) break;
                use(begin, base + static_cast<std::size_t>(std::countr_zero(changes)));
                changes &= changes - 1;
            }
            before = bits >> 63;
        }
    }
};

// Reads a text in pieces that end at spaces, so that no piece is much longer than it needs to be.
class LineReader {
   public:
    explicit LineReader(const LineRules& rules) : rules_(rules) {}

    void start(std::string_view text);
    // Read the next piece; false if there is none.
    bool next();
    const Line& line() const { return line_; }

   private:
    std::size_t piece_end() const;
    void mark_negation();

    LineRules rules_;
    std::string_view text_;
    std::size_t at_ = 0;
    bool negated_ = false;
    Line line_, marked_;
};

// The number of characters in `length` bytes of UTF-8.
std::size_t count_characters(const char* bytes, std::size_t length);

}  // namespace naively
