// FewTexts and KnownTexts: tables from text to code that are built once and then only read.
// A look-up gives the code or `other`, reads only the bytes that the caller allows, and no text can make it slow.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "text/sixteen.hpp"
#include "text/text_codes.hpp"

namespace naively {

// Codes of a few short texts, each in a slot of its own: a look-up never probes a second slot.
class FewTexts {
    static constexpr std::size_t most = 128;

   public:
    static constexpr std::size_t width = 32;  // bytes that are read from the start of a text, whatever its length

    // Nothing if there are too many texts, one is too long, or two cannot be kept apart.
    static std::optional<FewTexts> of(const std::vector<std::string_view>& texts) {
        if (texts.size() > most) return std::nullopt;
        for (const std::string_view text : texts)
            if (text.size() > width) return std::nullopt;
        if (auto found = parted<false>(texts)) return found;
        return parted<true>(texts);
    }

   private:
    struct alignas(64) Slot {
        char text[width] = {};
        std::size_t length = ~std::size_t{0};  // no text has this length
        std::int32_t code = 0;
    };

    // A mask of `size` set bytes followed by zeros, `width` bytes in all; `size` is at most `width`.
    static const char* first_bytes(std::size_t n_bytes) {
        struct Bytes {
            char value[2 * width] = {};
            constexpr Bytes() {
                for (std::size_t i = 0; i < width; ++i) value[i] = static_cast<char>(-1);
            }
        };
        static constexpr Bytes bytes;
        return bytes.value + (width - n_bytes);
    }

    // The key that separates texts: the first eight bytes and the length; with `ByEnd` the last eight bytes too.
    template <bool ByEnd>
    static NAIVELY_INLINE std::uint64_t key(std::uint64_t first, const char* text, std::size_t length) {
        if constexpr (ByEnd) {
            const std::size_t end = length < 8 ? length : 8;
            first ^= (load_eight(text + (length - end)) & load_eight(first_bytes(end))) * salt_b;
        }
        return first + length;
    }

    // A text padded with zeros.
    struct Padded {
        char bytes[width] = {};
        explicit Padded(std::string_view text) {
            if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
        }
    };

    FewTexts(std::size_t slots, std::uint64_t salt, bool by_end)
        : salt_(salt), shift_(64 - std::countr_zero(slots)), slots_(slots), by_end_(by_end) {}

    // Nothing if two texts have the same key, or if no salt was found that separates them.
    template <bool ByEnd>
    static std::optional<FewTexts> parted(const std::vector<std::string_view>& texts) {
        std::vector<std::uint64_t> keys;
        for (const std::string_view text : texts) {
            const Padded padded(text);
            keys.push_back(key<ByEnd>(load_eight(padded.bytes), padded.bytes, text.size()));
        }
        std::vector<std::uint64_t> sorted = keys;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
        std::uint64_t salt = salt_a;
        for (std::size_t slots = std::bit_ceil(4 * texts.size() + 2); slots <= 16 * most; slots *= 2)
            for (int tries = 0; tries < 8; ++tries, salt = fold(salt, salt_b) | 1) {
                FewTexts found(slots, salt, ByEnd);
                if (found.place_all(texts, keys)) return found;
            }
        return std::nullopt;
    }

    bool place_all(const std::vector<std::string_view>& texts, const std::vector<std::uint64_t>& keys) {
        for (std::size_t code = 0; code < texts.size(); ++code) {
            Slot& slot = slots_[static_cast<std::size_t>(keys[code] * salt_ >> shift_)];
            if (slot.length != ~std::size_t{0}) return false;
            std::memcpy(slot.text, Padded(texts[code]).bytes, width);
            slot.length = texts[code].size();
            slot.code = static_cast<std::int32_t>(code);
            some_long_ = some_long_ || slot.length > width / 2;
        }
        return true;
    }

    // `Long`: true if a text has more than half of `width` bytes.
    template <bool Long, bool ByEnd>
    auto finder() const {
        return [slots = slots_.data(), salt = salt_, shift = shift_](const char* text, std::size_t length,
                                                                     std::int32_t other) {
            const char* mask = first_bytes(length < width ? length : width);
            const Sixteen start = Sixteen::load(text) & Sixteen::load(mask);
            const Slot& slot = slots[static_cast<std::size_t>(key<ByEnd>(start.first(), text, length) * salt >> shift)];
            std::uint64_t differ = (slot.length ^ length) | start.differ(Sixteen::load(slot.text));
            if constexpr (Long) {
                const Sixteen rest = Sixteen::load(text + 16) & Sixteen::load(mask + 16);
                differ |= rest.differ(Sixteen::load(slot.text + 16));
            }
            return differ == 0 ? slot.code : other;
        };
    }

   public:
    // Call use(find), where find(text, length, other) returns the code of a text, or `other` if it has none; `width`
    // bytes must be readable from the start of the text.
    template <class Use>
    void with_finder(Use&& use) const {
        if (by_end_) return some_long_ ? use(finder<true, true>()) : use(finder<false, true>());
        return some_long_ ? use(finder<true, false>()) : use(finder<false, false>());
    }

   private:
    std::uint64_t salt_;
    int shift_;
    std::vector<Slot> slots_;
    bool by_end_;  // true if beginnings and lengths alone do not separate the texts
    bool some_long_ = false;
};

// Any number of texts, numbered in the order in which they come.
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
    KnownTexts(const KnownTexts&) = delete;  // the table points into `bytes_`
    KnownTexts& operator=(const KnownTexts&) = delete;

    std::size_t size() const { return size_; }

    // Write the code of each text, or `size()` if it has none, to every `stride`-th place.
    template <class Offset>
    void look_up(const Strings<Offset>& texts, std::size_t begin, std::size_t end, std::int32_t* codes,
                 std::size_t stride) const {
        const auto other = static_cast<std::int32_t>(size_);
        if (many_) {
            for (std::size_t i = begin; i < end; ++i)
                codes[(i - begin) * stride] = many_->find(texts[i], texts.reaches(i, TextKey::width), other);
        } else {
            few_->with_finder([&](auto find) { look_up_few(texts, begin, end, other, codes, stride, find); });
        }
    }

   private:
    template <class Offset, class Find>
    static void look_up_few(const Strings<Offset>& texts, std::size_t begin, std::size_t end, std::int32_t other,
                            std::int32_t* codes, std::size_t stride, Find find) {
        std::size_t safe = end;  // texts before this one are followed by enough bytes
        while (safe > begin && !texts.reaches(safe - 1, FewTexts::width)) --safe;
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
