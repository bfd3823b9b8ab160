// Ticks: numbers for the ticks of one column, in order of first appearance.
// A tick keeps its number until the level changes, and nobody can choose values that make look-ups slow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/hash.hpp"
#include "columns/values.hpp"

namespace naively {

// A hash table that numbers keys from 0 on. The hash has a secret key per process, so that nobody can choose keys that
// collide.
class Keys {
   public:
    Keys() { clear(); }

    NAIVELY_INLINE std::uint32_t number_of(std::uint64_t key) {
        std::size_t at = place_of(key);
        while (slots_[at].number != 0 && slots_[at].key != key) at = (at + 1) & mask_;
        return slots_[at].number != 0 ? slots_[at].number - 1 : insert(key, at);
    }

    std::size_t size() const { return keys_.size(); }
    const std::vector<std::uint64_t>& all() const { return keys_; }

    void clear() {
        keys_.clear();
        make_room(32);
    }

   private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t number = 0;  // the number plus one; 0 if the slot is empty
    };

    NAIVELY_INLINE std::size_t place_of(std::uint64_t key) const {
        return static_cast<std::size_t>(hash_number(key, process_seed)) & mask_;
    }

    std::uint32_t insert(std::uint64_t key, std::size_t at) {
        keys_.push_back(key);
        const auto number = static_cast<std::uint32_t>(keys_.size());
        slots_[at] = {key, number};
        if (2 * keys_.size() > slots_.size()) make_room(2 * slots_.size());
        return number - 1;
    }

    void make_room(std::size_t slots) {
        slots_.assign(slots, Slot{});
        mask_ = slots - 1;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            std::size_t at = place_of(keys_[i]);
            while (slots_[at].number != 0) at = (at + 1) & mask_;
            slots_[at] = {keys_[i], static_cast<std::uint32_t>(i + 1)};
        }
    }

    std::vector<Slot> slots_;
    std::vector<std::uint64_t> keys_;
    std::size_t mask_ = 0;
};

// Numbers the ticks of a level from 0 on. Coarse ticks are looked up in pages, one for each power of two, which stay in
// the cache; no_tick is in the last page, where no finite number is.
class Ticks {
   public:
    // Pages repay only for many rows.
    Ticks(int level, std::size_t rows) : many_(rows >= 4096) { clear(level); }

    bool paged() const { return !pages_.empty(); }

    std::uint32_t number_of(std::uint64_t tick) { return paged() ? number_of<true>(tick) : number_of<false>(tick); }

    template <bool paged>
    NAIVELY_INLINE std::uint32_t number_of(std::uint64_t tick) {
        if constexpr (!paged) return keys_.number_of(tick);
        std::vector<std::uint32_t>& page = pages_[(tick >> level_) & (n_pages - 1)];
        if (page.empty()) page.resize(std::size_t{1} << level_);
        std::uint32_t& number = page[tick & ((std::uint64_t{1} << level_) - 1)];
        if (number == 0) {
            paged_.push_back(tick);
            number = static_cast<std::uint32_t>(paged_.size());
        }
        return number - 1;
    }

    std::size_t size() const { return all().size(); }
    const std::vector<std::uint64_t>& all() const { return paged() ? paged_ : keys_.all(); }

    // The numbers of all ticks, in ascending order of the ticks.
    std::vector<std::uint32_t> order() const {
        const std::vector<std::uint64_t>& ticks = all();
        std::vector<std::uint32_t> numbers;
        numbers.reserve(ticks.size());
        for (const auto& page : pages_)
            for (const std::uint32_t number : page)
                if (number != 0) numbers.push_back(number - 1);
        if (paged()) return numbers;
        numbers.resize(ticks.size());
        std::iota(numbers.begin(), numbers.end(), 0u);
        std::sort(numbers.begin(), numbers.end(), [&](auto a, auto b) { return ticks[a] < ticks[b]; });
        return numbers;
    }

    void clear(int level) {
        level_ = level;
        keys_.clear();
        paged_.clear();
        pages_.assign(many_ && level <= grid_level ? n_pages : 0, {});
    }

   private:
    static constexpr std::size_t n_pages = std::size_t{1} << 12;  // one per sign and exponent

    bool many_;
    int level_ = exact_level;
    Keys keys_;
    std::vector<std::vector<std::uint32_t>> pages_;  // numbers plus one, or 0
    std::vector<std::uint64_t> paged_;
};

}  // namespace naively
