// Texts that have codes, made once and then only asked.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "text_codes.hpp"

namespace naively {

// The codes of a few short texts, each in a slot of its own: looking one up never goes on to a next slot, so there is
// nothing to guess wrong, and no text that is looked up can make it slow.
class FewTexts {
   public:
    static constexpr std::size_t width = 32;  // bytes that are read from where a text begins, whatever its length

    // Nothing where there are too many texts for that, one is too long, or two cannot be kept apart.
    static std::optional<FewTexts> of(const std::vector<std::string_view>& texts) {
        if (texts.size() > most) return std::nullopt;
        for (const std::string_view text : texts)
            if (text.size() > width) return std::nullopt;
        std::uint64_t salt = salt_a;
        for (std::size_t slots = std::bit_ceil(4 * texts.size() + 2); slots <= 16 * most; slots *= 2)
            for (int tries = 0; tries < 8; ++tries, salt = fold(salt, salt_b) | 1) {
                FewTexts found(slots, salt);
                if (found.place_all(texts)) return found;
            }
        return std::nullopt;
    }

    // Whether one has more than half of `width` bytes.
    bool some_long() const { return some_long_; }

    // A function that gives the code of a text, or `other` where it has none. `width` bytes can be read from where the
    // text begins. `Long`: as `some_long` says.
    template <bool Long>
    auto finder() const {
        return [slots = slots_.data(), salt = salt_, shift = shift_](const char* text, std::size_t length,
                                                                     std::int32_t other) {
            const Slot& slot = slots[place(text, length, salt, shift)];
            const char* mask = first_bytes(length < width ? length : width);
            std::uint64_t differs = slot.length ^ length;
            for (std::size_t at = 0; at < (Long ? width : width / 2); at += 8)
                differs |= (load_eight(text + at) ^ slot.words[at / 8]) & load_eight(mask + at);
            return differs == 0 ? slot.code : other;
        };
    }

   private:
    static constexpr std::size_t most = 128;
    struct alignas(64) Slot {
        std::uint64_t words[width / 8] = {};
        std::size_t length = ~std::size_t{0};  // of no text
        std::int32_t code = 0;
    };

    // A mask of so many bytes, up to `width`, and zeros up to that.
    static const char* first_bytes(std::size_t many) {
        struct Bytes {
            char value[2 * width] = {};
            constexpr Bytes() {
                for (std::size_t i = 0; i < width; ++i) value[i] = static_cast<char>(-1);
            }
        };
        static constexpr Bytes bytes;
        return bytes.value + (width - many);
    }

    FewTexts(std::size_t slots, std::uint64_t salt)
        : salt_(salt), shift_(64 - std::countr_zero(slots)), slots_(slots) {}

    // By the first and the last eight bytes, and the length.
    static NAIVELY_INLINE std::size_t place(const char* text, std::size_t length, std::uint64_t salt, int shift) {
        const std::size_t end = length < 8 ? length : 8;
        const std::uint64_t mask = load_eight(first_bytes(end));
        const std::uint64_t first = load_eight(text) & mask, last = load_eight(text + (length - end)) & mask;
        return static_cast<std::size_t>(((first ^ (last * salt_b)) + length) * salt >> shift);
    }

    bool place_all(const std::vector<std::string_view>& texts) {
        for (std::size_t code = 0; code < texts.size(); ++code) {
            const std::string_view text = texts[code];
            char block[width] = {};
            if (!text.empty()) std::memcpy(block, text.data(), text.size());
            Slot& slot = slots_[place(block, text.size(), salt_, shift_)];
            if (slot.length != ~std::size_t{0}) return false;
            for (std::size_t at = 0; at < width; at += 8) slot.words[at / 8] = load_eight(block + at);
            slot.length = text.size();
            slot.code = static_cast<std::int32_t>(code);
            some_long_ = some_long_ || text.size() > width / 2;
        }
        return true;
    }

    std::uint64_t salt_;
    int shift_;
    std::vector<Slot> slots_;
    bool some_long_ = false;
};

// Any texts, numbered as they come.
class KnownTexts {
   public:
    KnownTexts(const Strings<std::int64_t>& texts, std::uint64_t seed) : bytes_(texts.bytes, texts.bytes + texts.size) {
        std::vector<std::string_view> listed(texts.rows);
        for (std::size_t i = 0; i < texts.rows; ++i) listed[i] = {bytes_.data() + texts.offsets[i], texts[i].size()};
        size_ = listed.size();
        few_ = FewTexts::of(listed);
        if (few_) return;
        many_.emplace(seed);
        for (const std::string_view text : listed) many_->of(text, false);
    }
    KnownTexts(const KnownTexts&) = delete;  // what it looks up points into its bytes
    KnownTexts& operator=(const KnownTexts&) = delete;

    std::size_t size() const { return size_; }

    // The code of each of some texts, `size()` where it has none; written to every `stride`-th place.
    template <class Offset>
    void look_up(const Strings<Offset>& texts, std::size_t begin, std::size_t end, std::int32_t* codes,
                 std::size_t stride) const {
        const auto other = static_cast<std::int32_t>(size_);
        if (many_) {
            for (std::size_t i = begin; i < end; ++i)
                codes[(i - begin) * stride] = many_->find(texts[i], texts.reaches(i, TextKey::width), other);
        } else if (few_->some_long()) {
            look_up_few<true>(texts, begin, end, other, codes, stride);
        } else {
            look_up_few<false>(texts, begin, end, other, codes, stride);
        }
    }

   private:
    template <bool Long, class Offset>
    void look_up_few(const Strings<Offset>& texts, std::size_t begin, std::size_t end, std::int32_t other,
                     std::int32_t* codes, std::size_t stride) const {
        std::size_t safe = end;  // texts before it are followed by enough bytes
        while (safe > begin && !texts.reaches(safe - 1, FewTexts::width)) --safe;
        const auto find = few_->finder<Long>();
        for (std::size_t i = begin; i < safe; ++i, codes += stride)
            *codes = find(texts[i].data(), texts[i].size(), other);
        for (std::size_t i = safe; i < end; ++i, codes += stride) {
            char block[FewTexts::width] = {};
            if (!texts[i].empty()) std::memcpy(block, texts[i].data(), std::min(texts[i].size(), FewTexts::width));
            *codes = find(block, texts[i].size(), other);
        }
    }

    std::vector<char> bytes_;
    std::size_t size_ = 0;
    std::optional<FewTexts> few_;
    std::optional<TextCodes> many_;
};

}  // namespace naively
