#include "text/line.hpp"

#include <bit>
#include <cstring>

#include "text/ascii.hpp"
#include "text/characters.hpp"

namespace naively {
namespace {

constexpr std::uint32_t capital_sigma = 0x3a3, small_sigma = 0x3c3, final_sigma = 0x3c2, dotted_i = 0x130,
                        dot_above = 0x307;
constexpr std::size_t usual_piece = 1 << 15;
constexpr std::size_t slack = 64;  // room in a line beyond the rest of its text

// Python lowers a capital sigma to its final form depending on the letters around it.
bool is_final_sigma(const unsigned char* text, const unsigned char* at, const unsigned char* behind,
                    const unsigned char* end) {
    std::uint8_t flags = unicode::ignorable;
    for (const unsigned char* back = at; back > text && (flags & unicode::ignorable);) {
        const Character before = character_before(text, back);
        flags = kind_of(before.point).flags;
        back -= before.length;
    }
    if ((flags & unicode::ignorable) || !(flags & unicode::cased)) return false;
    flags = unicode::ignorable;
    while (behind < end && (flags & unicode::ignorable)) {
        const Character next = character_at(behind, end);
        flags = kind_of(next.point).flags;
        behind += next.length;
    }
    return (flags & unicode::ignorable) || !(flags & unicode::cased);
}

// Writes a piece of a text as a line.
class Writer {
   public:
    Writer(std::string_view text, const LineRules& rules, Line& line)
        : begin_(reinterpret_cast<const unsigned char*>(text.data())),
          end_(begin_ + text.size()),
          rules_(rules),
          line_(line) {}

    void write(std::size_t from, std::size_t to) {
        at_ = begin_ + from;
        stop_ = begin_ + to;
        line_.clear();
        make_room();
        if (rules_.kind == TokenKind::stream)
            stream();
        else if (rules_.kind == TokenKind::chars)
            walk([](const Block& block) { return block.in_no_space(); });
        else
            walk([](const Block& block) { return block.in_words(); });
        end_run();
        line_.length = length_;
    }

   private:
    // Read ASCII characters, several at once, up to the first other character.
    template <class Classify>
    void walk(Classify classify) {
        while (at_ < stop_) {
            if (static_cast<std::size_t>(stop_ - at_) >= Block::size) {
                const Block block = Block::load(at_);
                const std::uint32_t beyond = block.beyond_ascii();
                const std::size_t plain =
                    beyond == 0 ? Block::size : static_cast<std::size_t>(std::countr_zero(beyond));
                if (plain > 0) {
                    end_run();
                    (rules_.lower ? block.lowered() : block).store(line_.bytes.data() + length_);
                    mark(classify(block) & ((std::uint32_t{1} << plain) - 1));
                    length_ += plain;
                    at_ += plain;
                    continue;
                }
            }
            character();
        }
    }

    // Set up to sixteen bits, from the end of the line on.
    NAIVELY_INLINE void mark(std::uint64_t bits) {
        std::uint64_t* word = line_.inside.data() + length_ / 64;
        const std::size_t shift = length_ % 64;
        word[0] |= bits << shift;
        if (shift > 48) word[1] |= bits >> (64 - shift);
    }

    // Read one character of any kind.
    void character() {
        const Character found = character_at(at_, stop_);
        const unsigned char* here = at_;
        at_ += found.length;
        if (!rules_.lower) return put(found.point);
        if (found.point == capital_sigma)
            return put(is_final_sigma(begin_, here, at_, end_) ? final_sigma : small_sigma);
        if (found.point == dotted_i) {
            put('i');
            return put(dot_above);
        }
        put(static_cast<std::uint32_t>(static_cast<std::int64_t>(found.point) + kind_of(found.point).to_lower));
    }

    void put(std::uint32_t point) {
        const std::uint8_t flags = kind_of(point).flags;
        if (rules_.kind == TokenKind::words && (flags & unicode::spaceless)) return spaceless(point);
        end_run();
        append(point, inside(flags));
    }

    bool inside(std::uint8_t flags) const {
        if (rules_.kind == TokenKind::words) return flags & unicode::word;
        if (rules_.kind == TokenKind::sklearn) return flags & unicode::alnum;
        return !(flags & unicode::space);
    }

    void append(std::uint32_t point, bool in_word) {
        const std::size_t size = write_character(point, line_.bytes.data() + length_);
        if (in_word) mark((1u << size) - 1);
        length_ += size;
        make_room();
    }

    // In a script without spaces every two neighbours are a word; a character without neighbours is a word by itself.
    void spaceless(std::uint32_t point) {
        if (run_ == 0) {
            append(' ', false);
        } else {
            append(previous_, true);
            append(point, true);
            append(' ', false);
        }
        previous_ = point;
        ++run_;
    }

    void end_run() {
        if (run_ == 1) {
            append(previous_, true);
            append(' ', false);
        }
        run_ = 0;
    }

    // Read the whole text as one word, several spaces as one blank.
    void stream() {
        std::size_t space_at = 0, spaces = 0;
        while (at_ < stop_) {
            const Character found = character_at(at_, stop_);
            if (!(kind_of(found.point).flags & unicode::space)) {
                spaces = 0;
                character_inside();
                continue;
            }
            at_ += found.length;
            if (++spaces == 1) {
                space_at = length_;
                append(found.point, true);
            } else if (spaces == 2) {
                unmark(space_at);
                append(' ', true);
            }
        }
    }

    void character_inside() {
        const std::size_t before = length_;
        character();
        for (std::size_t i = before; i < length_; ++i) line_.inside[i / 64] |= std::uint64_t{1} << (i % 64);
    }

    // Shorten the line to an earlier end.
    void unmark(std::size_t length) {
        for (std::size_t i = length; i < length_; ++i) line_.inside[i / 64] &= ~(std::uint64_t{1} << (i % 64));
        length_ = length;
    }

    // Make room for the rest of the text if nothing grows, and for some characters that do.
    void make_room() {
        const std::size_t needed = length_ + static_cast<std::size_t>(stop_ - at_) + slack;
        if (needed > line_.bytes.size()) line_.bytes.resize(needed + needed / 2);
        if (needed / 64 + 2 > line_.inside.size()) line_.inside.resize((needed + needed / 2) / 64 + 2, 0);
    }

    const unsigned char* begin_;
    const unsigned char* end_;
    const unsigned char* at_ = nullptr;
    const unsigned char* stop_ = nullptr;
    const LineRules& rules_;
    Line& line_;
    std::size_t length_ = 0;
    std::uint32_t previous_ = 0;
    std::size_t run_ = 0;
};

constexpr std::string_view negators[] = {"not",    "no",   "never",   "cannot",  "neither", "nor",
                                         "nobody", "none", "nothing", "nowhere", "without"};

bool is_negator(std::string_view word) {
    char low[8];
    if (word.size() < 2 || word.size() > sizeof low) return false;
    for (std::size_t i = 0; i < word.size(); ++i) low[i] = static_cast<char>(word[i] | 0x20);
    for (const std::string_view negator : negators)
        if (negator == std::string_view(low, word.size())) return true;
    return false;
}

// True if `word` is the "t" that ends an "n't".
bool is_contraction(std::string_view before, std::string_view gap, std::string_view word) {
    const bool apostrophe = gap == "'" || gap == "\xe2\x80\x99";
    return apostrophe && word.size() == 1 && (word[0] | 0x20) == 't' && !before.empty() &&
           (before.back() | 0x20) == 'n';
}

bool closes(std::string_view gap) {
    const auto* at = reinterpret_cast<const unsigned char*>(gap.data());
    for (const auto* end = at + gap.size(); at < end;) {
        const Character found = character_at(at, end);
        if (kind_of(found.point).flags & unicode::closing) return true;
        at += found.length;
    }
    return false;
}

void append_to(Line& line, std::string_view text, bool inside) {
    const std::size_t needed = line.length + text.size() + slack;
    if (needed > line.bytes.size()) line.bytes.resize(2 * needed);
    if (needed / 64 + 1 > line.inside.size()) line.inside.resize(2 * needed / 64 + 1, 0);
    std::memcpy(line.bytes.data() + line.length, text.data(), text.size());
    if (inside)
        for (std::size_t i = line.length; i < line.length + text.size(); ++i)
            line.inside[i / 64] |= std::uint64_t{1} << (i % 64);
    line.length += text.size();
}

}  // namespace

void Line::clear() {
    if (length > 0) std::memset(inside.data(), 0, (length / 64 + 1) * sizeof(std::uint64_t));
    length = 0;
}

void LineReader::start(std::string_view text) {
    text_ = text;
    at_ = 0;
    negated_ = false;
}

// Pieces end behind a space, so that neither a word nor the neighbourhood of a sigma is cut.
std::size_t LineReader::piece_end() const {
    if (rules_.kind == TokenKind::stream || text_.size() - at_ <= usual_piece) return text_.size();
    const std::size_t from = text_.find_first_of(" \n\t", at_ + usual_piece);
    return from == std::string_view::npos ? text_.size() : from + 1;
}

bool LineReader::next() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = piece_end();
    Writer(text_, rules_, line_).write(at_, end);
    at_ = end;
    if (rules_.negation) mark_negation();
    return true;
}

void LineReader::mark_negation() {
    marked_.clear();
    const std::string_view all(line_.bytes.data(), line_.length);
    std::string_view before;
    std::size_t end = 0;
    line_.each_word([&](std::size_t begin, std::size_t behind) {
        const std::string_view gap = all.substr(end, begin - end), word = all.substr(begin, behind - begin);
        if (closes(gap)) negated_ = false;
        append_to(marked_, " ", false);
        const bool token = rules_.kind != TokenKind::sklearn || count_characters(word.data(), word.size()) > 1;
        if (token && negated_) append_to(marked_, negation_mark, true);
        append_to(marked_, word, token);
        if (is_negator(word) || is_contraction(before, gap, word)) negated_ = true;
        before = word;
        end = behind;
    });
    if (closes(all.substr(end))) negated_ = false;
    append_to(marked_, " ", false);
    std::swap(line_, marked_);
}

std::size_t count_characters(const char* bytes, std::size_t length) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < length; ++i) count += (static_cast<unsigned char>(bytes[i]) & 0xc0) != 0x80;
    return count;
}

}  // namespace naively
