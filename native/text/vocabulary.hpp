// Vocabulary: words, and sequences of words, by number. Grows for ever; a number never changes.
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

// Names where they lie, in a vocabulary or in a file: words, and sequences of words, by number.
struct Names {
    static constexpr std::uint32_t is_sequence = 0xffffffff;

    const std::uint64_t* what;    // of a word, where its bytes begin; of a sequence, its two parts, named before it
    const std::uint32_t* length;  // of a word, in bytes
    std::size_t size;
    const char* bytes;
    std::size_t bytes_size;

    bool sequence(std::uint32_t number) const { return length[number] == is_sequence; }
    // Of a sequence: all but its last word, and that word.
    std::uint32_t before(std::uint32_t number) const { return static_cast<std::uint32_t>(what[number] >> 32); }
    std::uint32_t last(std::uint32_t number) const { return static_cast<std::uint32_t>(what[number]); }
    std::string_view word_of(std::uint32_t number) const { return {bytes + what[number], length[number]}; }
};

// What is wrong with names of a file, or null: each lies within the bytes, all together take no more than these, and a
// sequence is an earlier name and an earlier word, of at most 255 words.
const char* fault_of(const Names& names);

// A word as it is looked up: its first sixteen bytes at hand, and its hash.
struct Word {
    const char* bytes;
    Head head;
    std::uint64_t hash;
    std::uint32_t length;
};

// 64-bit keys by number.
class Keys {
   public:
    explicit Keys(std::uint64_t seed) : seed_(seed), slots_(first_slots, Slot{0, no_number}) {}

    void prefetch(std::uint64_t key) const { NAIVELY_PREFETCH(&slots_[place(key)]); }

    // Where the key is, or belongs; and the number there, or no_number.
    std::size_t locate(std::uint64_t key) const {
        std::size_t at = place(key);
        while (slots_[at].number != no_number && slots_[at].key != key) at = (at + 1) & mask_;
        return at;
    }
    std::uint32_t number_at(std::size_t at) const { return slots_[at].number; }
    std::uint32_t find(std::uint64_t key) const { return number_at(locate(key)); }

    // Gives a key that is new its number, at the place where it belongs; there must be room.
    void put(std::size_t at, std::uint64_t key, std::uint32_t number) {
        slots_[at] = {key, number};
        ++size_;
    }
    // Makes room for so many more; true where places are other ones now.
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

// The hash is keyed, so that nobody can choose words that collide. A sequence is a shorter one and one more word.
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
    // A word of others' names as it is looked up here.
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

    // What of others' names is wanted (their numbers, in order), with the parts of sequences; the number that each of
    // the others' names has here, or no_number.
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
    // Its words, with a space between two.
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
    Large<std::uint64_t> what_;    // of a word, where its bytes begin; of a sequence, its two parts
    Large<std::uint32_t> length_;  // of a word, in bytes
    std::vector<char> bytes_;
};

inline std::uint64_t sequence_of(std::uint32_t before, std::uint32_t last) {
    return (static_cast<std::uint64_t>(before) << 32) | last;
}

}  // namespace naively
