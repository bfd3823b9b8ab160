// Gathered and Uniques: the different numbers of one document, with a count of each.
// Numbers come in order of first appearance, and buffers are kept between documents.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "base/wide.hpp"

namespace naively {

// Gathers by a count for every number of a vocabulary, which the caller provides.
class Gathered {
   public:
    std::size_t size = 0;
    std::vector<std::uint32_t> number, count;  // only the first `size` are valid

    // `count_of(n)` is the count of number n: zero before and afterwards.
    template <class CountOf>
    NAIVELY_INLINE void of(const std::vector<std::uint32_t>& numbers, CountOf count_of) {
        constexpr std::size_t prefetch_distance = 16;
        if (number.size() < numbers.size()) {
            number.resize(numbers.size());
            count.resize(numbers.size());
        }
        std::size_t n_found = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {  // no branch on what is new: half of the numbers are
            NAIVELY_PREFETCH(&count_of(numbers[std::min(i + prefetch_distance, numbers.size() - 1)]));
            std::uint32_t& found = count_of(numbers[i]);
            number[n_found] = numbers[i];
            n_found += found == 0;
            ++found;
        }
        for (std::size_t i = 0; i < n_found; ++i) {
            std::uint32_t& found = count_of(number[i]);
            count[i] = found;
            found = 0;
        }
        size = n_found;
    }
};

// Gathers by a small hash table, without room for a whole vocabulary.
class Uniques {
   public:
    std::size_t size = 0;
    std::vector<std::uint32_t> number, count;  // only the first `size` are valid

    // Gather a document. The table is no larger than the document needs, so that it stays in the cache; a stamp marks
    // slots of this document.
    void of(const std::vector<std::uint32_t>& numbers) {
        start(numbers.size());
        std::uint32_t n_found = 0;
        for (const std::uint32_t n : numbers) {  // no branch on what is new: half of the numbers are
            if (n_found == room_) grow(n_found);
            const std::size_t at = place_of(n);
            Slot& slot = slots_[at];
            const bool first = slot.document != document_;
            number[n_found] = n;
            count[n_found] = 0;
            const std::uint32_t place = first ? n_found : slot.place;
            slot = {document_, n, place};
            ++count[place];
            n_found += first;
        }
        size = n_found;
    }

   private:
    struct Slot {
        std::uint32_t document = 0, number = 0, place = 0;
    };
    static constexpr std::size_t usual = 1 << 10;  // few documents have more different tokens than this

    NAIVELY_INLINE std::size_t place_of(std::uint32_t n) const {
        std::size_t at = static_cast<std::size_t>(hash_number(n, process_seed)) & mask_;
        while (slots_[at].document == document_ && slots_[at].number != n) at = (at + 1) & mask_;
        return at;
    }

    void start(std::size_t tokens) {
        if (++document_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            document_ = 1;
        }
        const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(std::min(tokens + 1, usual), 64));
        if (wanted > room_) make_room(wanted);
    }

    void make_room(std::size_t room) {
        room_ = room;
        number.resize(room);
        count.resize(room);
        slots_.assign(2 * room, Slot{});
        mask_ = slots_.size() - 1;
    }

    // Move a long document into a larger table.
    void grow(std::uint32_t n_found) {
        make_room(2 * room_);
        for (std::uint32_t i = 0; i < n_found; ++i) slots_[place_of(number[i])] = {document_, number[i], i};
    }

    std::vector<Slot> slots_;
    std::size_t room_ = 0, mask_ = 0;
    std::uint32_t document_ = 0;
};

}  // namespace naively
