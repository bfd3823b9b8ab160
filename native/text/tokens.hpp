// TokenReader: cuts texts into tokens (words, sequences of words, or characters) and numbers them.
// Buffers are kept between texts, so that reading allocates little; tokens come in the order of the text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/line.hpp"
#include "text/numbering.hpp"
#include "text/vocabulary.hpp"

namespace naively {

struct TokenRules {
    LineRules line;
    std::size_t shortest = 1, longest = 1;  // words in a sequence, or characters in a token
    const Vocabulary* stop = nullptr;       // words to leave out
};

using Tokens = std::vector<std::string_view>;

// Reads one text, or one list of tokens, after another.
template <class Numbering>
class TokenReader {
   public:
    TokenReader(const TokenRules& rules, Numbering& numbering)
        : rules_(rules), numbering_(numbering), reader_(rules.line), carried_(rules.longest + 1), levels_(2) {}

    // Append the number of every token that has one.
    void read(std::string_view text, std::vector<std::uint32_t>& to) {
        start();
        const bool characters = rules_.line.kind == TokenKind::chars || rules_.line.kind == TokenKind::stream;
        const bool plain = rules_.line.kind == TokenKind::words && !rules_.stop;
        for (reader_.start(text); reader_.next();) {
            const Line& line = reader_.line();
            const char* bytes = line.bytes.data();
            if (characters)
                line.each_word([&](std::size_t from, std::size_t behind) { spell({bytes + from, behind - from}, to); });
            else if (plain)
                line.each_word([&](std::size_t from, std::size_t behind) {
                    add(bytes + from, behind - from, load_padded(bytes + from, behind - from), to);
                });
            else
                line.each_word([&](std::size_t from, std::size_t behind) {
                    const std::size_t length = behind - from;
                    if (!too_short(bytes + from, length) && !is_stop({bytes + from, length}))
                        add(bytes + from, length, load_padded(bytes + from, length), to);
                });
            take(to);
        }
    }

    void read(const Tokens& tokens, std::vector<std::uint32_t>& to) {
        start();
        for (const std::string_view token : tokens)
            if (!is_stop(token)) add(token.data(), token.size(), load_head(token.data(), token.size()), to);
        take(to);
    }

   private:
    static constexpr std::size_t batch = 128;

    void start() {
        std::fill(carried_.begin(), carried_.end(), no_number);
        recent_.clear();
    }

    bool too_short(const char* begin, std::size_t length) const {
        if (rules_.line.kind != TokenKind::sklearn || length > 4) return false;
        return length < 2 || ((begin[0] & 0x80) && count_characters(begin, length) < 2);
    }

    NAIVELY_INLINE void add(const char* begin, std::size_t length, const Head& head, std::vector<std::uint32_t>& to) {
        if constexpr (Numbering::by_bytes) {
            join({begin, length}, to);
        } else {
            words_[many_] = numbering_.vocabulary.word(begin, length, head);
            if (++many_ == batch) take(to);
        }
    }

    // True if a word, with or without a negation mark, is a stop word.
    bool is_stop(std::string_view word) const {
        if (!rules_.stop) return false;
        if (rules_.line.negation && word.starts_with(negation_mark)) word.remove_prefix(negation_mark.size());
        return rules_.stop->find(rules_.stop->word(word)) != no_number;
    }

    // Number the current words, and the sequences that end with them.
    void take(std::vector<std::uint32_t>& to) {
        if constexpr (!Numbering::by_bytes) {
            numbering_.number(words_.data(), many_, numbers_.data());
            if (rules_.shortest <= 1) emit(numbers_, to);
            if (rules_.longest > 1 && many_ > 0) sequences(to);
        }
        many_ = 0;
    }

    using Numbers = std::array<std::uint32_t, batch>;

    // Append those numbers that exist.
    void emit(const Numbers& numbers, std::vector<std::uint32_t>& to) const {
        std::size_t size = to.size();
        to.resize(size + many_);
        for (std::size_t i = 0; i < many_; ++i) {
            to[size] = numbers[i];
            size += numbers[i] != no_number;
        }
        to.resize(size);
    }

    void sequences(std::vector<std::uint32_t>& to) {
        const Numbers* shorter = &numbers_;
        for (std::size_t n = 2; n <= rules_.longest; ++n) {
            Numbers& longer = levels_[n % 2];
            for (std::size_t i = 0; i < many_; ++i) {
                before_[i] = i == 0 ? carried_[n - 1] : (*shorter)[i - 1];
                if (known(i)) numbering_.vocabulary.prefetch(sequence_of(before_[i], numbers_[i]));
            }
            carried_[n - 1] = (*shorter)[many_ - 1];
            for (std::size_t i = 0; i < many_; ++i)
                longer[i] = known(i) ? numbering_.number(sequence_of(before_[i], numbers_[i])) : no_number;
            if (n >= rules_.shortest) emit(longer, to);
            shorter = &longer;
        }
    }

    bool known(std::size_t i) const { return before_[i] != no_number && numbers_[i] != no_number; }

    // Number the sequences that end with this word, by their spelling.
    void join(std::string_view word, std::vector<std::uint32_t>& to) {
        if constexpr (Numbering::by_bytes) {
            if (rules_.shortest <= 1) to.push_back(numbering_.number(word));
            if (rules_.longest == 1) return;
            joined_ = word;
            for (std::size_t n = 2; n <= rules_.longest && n - 1 <= recent_.size(); ++n) {
                joined_.insert(0, recent_[recent_.size() - (n - 1)] + ' ');
                if (n >= rules_.shortest) to.push_back(numbering_.number(std::string_view(joined_)));
            }
            recent_.emplace_back(word);
            if (recent_.size() >= rules_.longest) recent_.erase(recent_.begin());
        }
    }

    // Number all runs of `shortest` to `longest` characters, of each word with its spaces or of the whole text.
    void spell(std::string_view text, std::vector<std::uint32_t>& to) {
        const bool whole = rules_.line.kind == TokenKind::stream;
        spelt_.clear();
        if (!whole) spelt_.push_back(' ');
        spelt_.append(text);
        if (!whole) spelt_.push_back(' ');
        starts_.clear();
        for (std::size_t i = 0; i < spelt_.size(); ++i)
            if ((static_cast<unsigned char>(spelt_[i]) & 0xc0) != 0x80) starts_.push_back(i);
        const std::size_t size = starts_.size();
        starts_.push_back(spelt_.size());
        for (std::size_t n = rules_.shortest; n <= rules_.longest; ++n) {
            if (n > size && whole) break;
            const std::size_t wide = std::min(n, size);
            for (std::size_t i = 0; i + wide <= size; ++i)
                add_spelt({spelt_.data() + starts_[i], starts_[i + wide] - starts_[i]}, to);
            if (n >= size && !whole) break;  // a word shorter than the run counts once
        }
        flush(to);
    }

    void add_spelt(std::string_view token, std::vector<std::uint32_t>& to) {
        if constexpr (Numbering::by_bytes) {
            to.push_back(numbering_.number(token));
        } else {
            words_[many_] = numbering_.vocabulary.word(token);
            if (++many_ == batch) flush(to);
        }
    }

    void flush(std::vector<std::uint32_t>& to) {
        if constexpr (!Numbering::by_bytes) {
            numbering_.number(words_.data(), many_, numbers_.data());
            emit(numbers_, to);
        }
        many_ = 0;
    }

    const TokenRules& rules_;
    Numbering& numbering_;
    LineReader reader_;
    std::array<Word, batch> words_;
    Numbers numbers_, before_;
    std::size_t many_ = 0;
    std::vector<std::uint32_t> carried_;  // for each length, the sequence that ended last
    std::vector<Numbers> levels_;
    std::vector<std::string> recent_;
    std::string joined_, spelt_;
    std::vector<std::size_t> starts_;
};

}  // namespace naively
