// TextCodes: numbers for texts, so that equal texts have equal codes, in order of first appearance.
// Bytes are compared, never only hashes, and no byte outside a text is read unless `padded` allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hash.hpp"

namespace naively {

// Texts as Arrow stores them: text i lies between offsets i and i + 1 of the bytes.
template <class Offset>
struct Strings {
    const Offset* offsets;
    const char* bytes;
    std::size_t size;  // size of all bytes together
    std::size_t rows;
    const std::uint8_t* missing;  // null if no text is missing
    // True if `length` bytes can be read from the start of text i.
    bool reaches(std::size_t i, std::size_t length) const {
        return static_cast<std::size_t>(offsets[i]) + length <= size;
    }
    // True if these texts lie within the bytes: no offset is below zero or below the one before it.
    bool sound(std::size_t begin, std::size_t end) const {
        using Bits = std::make_unsigned_t<Offset>;
        Bits any = static_cast<Bits>(offsets[begin]);
        for (std::size_t i = begin; i < end; ++i) {
            const auto from = static_cast<Bits>(offsets[i]), to = static_cast<Bits>(offsets[i + 1]);
            any |= to | (to - from);
        }
        return any >> (8 * sizeof(Bits) - 1) == 0 && static_cast<std::size_t>(offsets[end]) <= size;
    }
    std::string_view operator[](std::size_t i) const {
        return {bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

// The first bytes of a text, its length and its hash. Texts of up to 32 bytes are compared by these alone, without a
// branch that depends on their length.
struct TextKey {
    static constexpr std::size_t width = 32;
    Head one, two;
    std::uint64_t hash;
    std::size_t length;

    // `padded`: true if `width` bytes can be read whatever the length.
    TextKey(std::string_view text, bool padded, std::uint64_t seed) : length(text.size()) {
        const std::size_t more = length > 16 ? length - 16 : 0;
        if (padded) {
            one = load_padded(text.data(), length);
            two = load_padded(text.data() + 16, more);
        } else {
            one = load_head(text.data(), length);
            two = more ? load_head(text.data() + 16, more) : Head{0, 0};
        }
        hash = fold(one.first ^ seed, one.second ^ (length * salt_b) ^ (seed << 1) ^ salt_a);
        hash = fold(two.first ^ seed ^ hash, two.second ^ salt_a ^ (hash << 1));
        if (length > width) hash = hash_bytes(text.data(), length, one, seed ^ hash);
    }

    bool same(const TextKey& other) const {
        return ((one.first ^ other.one.first) | (one.second ^ other.one.second) | (two.first ^ other.two.first) |
                (two.second ^ other.two.second) | (length ^ other.length)) == 0;
    }
};

// A hash table with open addressing from texts to codes.
class TextCodes {
   public:
    explicit TextCodes(std::uint64_t seed) : seed_(seed), slots_(64, empty()) {}

    // The code of a text, and true if it is new.
    std::pair<std::int32_t, bool> of(std::string_view text, bool padded) {
        const TextKey key(text, padded, seed_);
        std::size_t at = key.hash & (slots_.size() - 1);
        for (; slots_[at].code != nobody; at = (at + 1) & (slots_.size() - 1))
            if (holds(slots_[at], key, text)) return {slots_[at].code, false};
        if (texts_.size() >= static_cast<std::size_t>(nobody)) throw std::length_error("too many categories");
        const auto code = static_cast<std::int32_t>(texts_.size());
        slots_[at] = {key, code};
        texts_.push_back(text);
        if (texts_.size() * 2 > slots_.size()) grow();
        return {code, true};
    }

    // The code of a text, or `other` if it has none.
    std::int32_t find(std::string_view text, bool padded, std::int32_t other) const {
        const TextKey key(text, padded, seed_);
        for (std::size_t at = key.hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].code == nobody) return other;
            if (holds(slots_[at], key, text)) return slots_[at].code;
        }
    }

   private:
    static constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();
    struct Slot {
        TextKey key;
        std::int32_t code;
    };

    static Slot empty() { return {TextKey({}, false, 0), nobody}; }

    bool holds(const Slot& slot, const TextKey& key, std::string_view text) const {
        return slot.key.same(key) &&
               (key.length <= TextKey::width || texts_[static_cast<std::size_t>(slot.code)] == text);
    }

    void grow() {
        std::vector<Slot> wider(slots_.size() * 4, empty());
        for (const Slot& slot : slots_) {
            if (slot.code == nobody) continue;
            std::size_t at = slot.key.hash & (wider.size() - 1);
            while (wider[at].code != nobody) at = (at + 1) & (wider.size() - 1);
            wider[at] = slot;
        }
        slots_.swap(wider);
    }

    std::uint64_t seed_;
    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
};

}  // namespace naively
