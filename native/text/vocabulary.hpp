// Vocabulary: words and sequences of words by number, in a hash table that only grows.
// A name keeps its number for ever, and sequences share the bytes of their words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/pages.hpp"

namespace naively {

constexpr std::uint32_t no_number = 0xffffffff;

// Names in a vocabulary or in a file, by number: words and sequences of words.
struct Names {
    static constexpr std::uint32_t is_sequence = 0xffffffff;

    // for a word, where its bytes begin; for a sequence, its two parts, which have lower numbers
    const std::uint64_t* what;
    const std::uint32_t* length;  // for a word, its length in bytes
    std::size_t size;
    const char* bytes;
    std::size_t bytes_size;

    bool sequence(std::uint32_t number) const { return length[number] == is_sequence; }
    // A sequence's beginning (all but its last word) and its last word.
    std::uint32_t before(std::uint32_t number) const { return static_cast<std::uint32_t>(what[number] >> 32); }
    std::uint32_t last(std::uint32_t number) const { return static_cast<std::uint32_t>(what[number]); }
    std::string_view word_of(std::uint32_t number) const { return {bytes + what[number], length[number]}; }
};

// Check names that come from a file; returns an error or null. Each name must lie within the bytes, all names together
// must not exceed them, and a sequence must be an earlier name and an earlier word, of at most 255 words.
const char* fault_of(const Names& names);

// A word ready for look-up: its first sixteen bytes and its hash.
struct Word {
    const char* bytes;
    Head head;
    std::uint64_t hash;
    std::uint32_t length;
};

// A hash table from 64-bit keys to numbers.
class Keys {
   public:
    explicit Keys(std::uint64_t seed) : seed_(seed), slots_(first_slots, Slot{0, no_number}) {}

    void prefetch(std::uint64_t key) const { NAIVELY_PREFETCH(&slots_[place(key)]); }

    // Find the slot where the key is or belongs, and the number there or no_number.
    std::size_t locate(std::uint64_t key) const {
        std::size_t at = place(key);
        while (slots_[at].number != no_number && slots_[at].key != key) at = (at + 1) & mask_;
        return at;
    }
    std::uint32_t number_at(std::size_t at) const { return slots_[at].number; }
    std::uint32_t find(std::uint64_t key) const { return number_at(locate(key)); }

    // Store the number of a new key at its slot; there must be room.
    void put(std::size_t at, std::uint64_t key, std::uint32_t number) {
        slots_[at] = {key, number};
        ++size_;
    }
    // Make room for `more` keys; returns true if slots have moved.
    bool reserve(std::size_t more) {
        if (!is_full(size_ + more)) return false;
        while (is_full(size_ + more)) grow();
        return true;
    }

   private:
    static constexpr std::size_t first_slots = 64;
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
    };
    bool is_full(std::size_t size) const { return size * 8 > slots_.size() * 5; }
    std::size_t place(std::uint64_t key) const { return static_cast<std::size_t>(hash_number(key, seed_)) & mask_; }
    void grow();

    std::uint64_t seed_;
    std::size_t size_ = 0, mask_ = first_slots - 1;
    Large<Slot> slots_;
};

// Words and sequences by number. The hash is keyed, so that nobody can choose words that collide; a sequence is a
// shorter sequence and one more word.
class Vocabulary {
   public:
    explicit Vocabulary(std::uint64_t seed)
        : seed_(seed), slots_(first_slots, Slot{{0, 0}, 0, no_number}), sequences_(seed) {}

    NAIVELY_INLINE Word word(const char* bytes, std::size_t length, const Head& head) const {
        if (length >= is_sequence) too_long();
        return {bytes, head, hash_bytes(bytes, length, head, seed_), static_cast<std::uint32_t>(length)};
    }
    Word word(std::string_view name) const {
        return word(name.data(), name.size(), load_head(name.data(), name.size()));
    }
    // A word of other names, ready for look-up here.
    Word word(const Names& other, std::uint32_t number) const {
        const std::string_view name = other.word_of(number);
        const bool padded = other.what[number] + sizeof(Head) <= other.bytes_size;
        return word(name.data(), name.size(),
                    padded ? load_padded(name.data(), name.size()) : load_head(name.data(), name.size()));
    }
    void prefetch(const Word& word) const { NAIVELY_PREFETCH(&slots_[word.hash & mask_]); }
    void prefetch(std::uint64_t sequence) const { sequences_.prefetch(sequence); }

    std::uint32_t find(const Word& word) const {
        for (std::size_t at = word.hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == no_number || same(slot, word)) return slot.number;
        }
    }
    std::uint32_t find(std::uint64_t sequence) const { return sequences_.find(sequence); }

    std::uint32_t find_or_add(const Word& word) {
        std::size_t at = word.hash & mask_;
        for (; slots_[at].number != no_number; at = (at + 1) & mask_)
            if (same(slots_[at], word)) return slots_[at].number;
        return add(word, at);
    }
    std::uint32_t find_or_add(std::uint64_t sequence) {
        const std::size_t at = sequences_.locate(sequence);
        const std::uint32_t known = sequences_.number_at(at);
        return known != no_number ? known : add(sequence, at);
    }

    // Add names of another vocabulary (`wanted`: their numbers, in order) with the parts of sequences. Returns for each
    // of the other names its number here, or no_number.
    std::vector<std::uint32_t> absorb(const Names& other, const std::vector<std::uint32_t>& wanted);
    // The same for the first `size` names.
    std::vector<std::uint32_t> absorb(const Names& other, std::size_t size);

    std::size_t size() const { return what_.size(); }
    std::uint64_t seed() const { return seed_; }
    // Valid until the vocabulary grows.
    Names names() const { return {what_.data(), length_.data(), size(), bytes_.data(), bytes_.size()}; }
    bool sequence(std::uint32_t number) const { return names().sequence(number); }
    std::uint32_t before(std::uint32_t number) const { return names().before(number); }
    std::uint32_t last(std::uint32_t number) const { return names().last(number); }
    std::string_view word_of(std::uint32_t number) const { return names().word_of(number); }
    // Append the words of a name, with a space between two.
    void append_name(std::uint32_t number, std::string& to) const;

   private:
    static constexpr std::size_t first_slots = 64;
    static constexpr std::uint32_t is_sequence = Names::is_sequence;
    struct Slot {
        Head head;
        std::uint32_t length;
        std::uint32_t number;
    };
    bool same(const Slot& slot, const Word& word) const {
        const std::uint64_t other =
            (slot.head.first ^ word.head.first) | (slot.head.second ^ word.head.second) | (slot.length ^ word.length);
        if (other != 0) return false;
        return word.length <= 16 || std::memcmp(bytes_.data() + what_[slot.number], word.bytes, word.length) == 0;
    }
    [[noreturn]] static void too_long();
    std::uint32_t add(const Word& word, std::size_t at);
    std::uint32_t add(std::uint64_t sequence, std::size_t at);
    void keep(std::uint64_t what, std::uint32_t length);
    std::uint32_t absorb_one(const Names& other, std::uint32_t number, std::vector<std::uint32_t>& moved);
    void grow();
    std::size_t free_place(const Word& word) const;

    std::uint64_t seed_;
    std::size_t words_ = 0, mask_ = first_slots - 1;
    Large<Slot> slots_;
    Keys sequences_;
    Large<std::uint64_t> what_;    // for a word, where its bytes begin; for a sequence, its two parts
    Large<std::uint32_t> length_;  // for a word, its length in bytes
    std::vector<char> bytes_;
};

inline std::uint64_t sequence_of(std::uint32_t before, std::uint32_t last) {
    return (static_cast<std::uint64_t>(before) << 32) | last;
}

}  // namespace naively
