// StoredVocabulary: a vocabulary that is read where it lies in a file, without copying.
// It trusts nothing: whatever the arrays hold, no byte outside them is read and every search ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "text/vocabulary.hpp"

namespace naively {

// The arrays of a stored vocabulary. A slot holds the upper half of a hash above a number; there are at least twice as
// many slots as names.
struct StoredArrays {
    std::vector<std::uint64_t> what;    // for a word, where its bytes begin; for a sequence, its two parts
    std::vector<std::uint32_t> length;  // for a word, its length in bytes
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> words, sequences;  // hash tables of slots
};

// Store the names of a vocabulary in another order, in which the parts of a sequence come before it: `order` holds
// their numbers, `place` the new number of each.
StoredArrays store(const Vocabulary& vocabulary, const std::vector<std::uint32_t>& order,
                   const std::vector<std::uint32_t>& place);

class StoredVocabulary {
   public:
    struct View : Names {
        const std::uint64_t* words;
        std::size_t words_size;  // a power of two, or zero
        const std::uint64_t* sequences;
        std::size_t sequences_size;
    };
    static constexpr std::uint64_t seed = 0;  // fixed, so that files are the same wherever they are made
    static constexpr std::uint32_t is_sequence = Names::is_sequence;
    static constexpr std::uint64_t empty = ~std::uint64_t{0};

    explicit StoredVocabulary(const View& view) : view_(view) {}

    NAIVELY_INLINE Word word(const char* bytes, std::size_t length, const Head& head) const {
        // no word is longer
        const auto known = static_cast<std::uint32_t>(length < is_sequence ? length : is_sequence);
        return {bytes, head, hash_bytes(bytes, length, head, seed), known};
    }
    Word word(std::string_view name) const {
        return word(name.data(), name.size(), load_head(name.data(), name.size()));
    }
    void prefetch(const Word& word) const {
        if (view_.words_size != 0) NAIVELY_PREFETCH(view_.words + (word.hash & (view_.words_size - 1)));
    }
    void prefetch(std::uint64_t sequence) const {
        if (view_.sequences_size != 0)
            NAIVELY_PREFETCH(view_.sequences + (hash_number(sequence, seed) & (view_.sequences_size - 1)));
    }

    std::uint32_t find(const Word& word) const {
        return search(view_.words, view_.words_size, word.hash, [&](std::uint32_t number) {
            return view_.length[number] == word.length && word.length != is_sequence && within(number) &&
                   std::memcmp(view_.bytes + view_.what[number], word.bytes, word.length) == 0;
        });
    }
    std::uint32_t find(std::uint64_t sequence) const {
        return search(view_.sequences, view_.sequences_size, hash_number(sequence, seed), [&](std::uint32_t number) {
            return view_.length[number] == is_sequence && view_.what[number] == sequence;
        });
    }

    std::size_t size() const { return view_.size; }
    // Append the words of a name, with a space between two; false if the arrays contradict each other.
    bool append_name(std::uint32_t number, std::string& to) const;

   private:
    bool within(std::uint32_t number) const {
        return view_.length[number] <= view_.bytes_size &&
               view_.what[number] <= view_.bytes_size - view_.length[number];
    }

    template <class Same>
    std::uint32_t search(const std::uint64_t* slots, std::size_t size, std::uint64_t hash, Same&& same) const {
        for (std::size_t looked = 0; looked < size; ++looked) {
            const std::uint64_t slot = slots[(hash + looked) & (size - 1)];
            if (slot == empty) return no_number;
            const auto number = static_cast<std::uint32_t>(slot);
            if (slot >> 32 == hash >> 32 && number < view_.size && same(number)) return number;
        }
        return no_number;
    }

    View view_;
};

}  // namespace naively
