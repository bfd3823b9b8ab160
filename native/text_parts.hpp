// What counting and reading of texts have in common: shares of the work, and what is there once or more often.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "text.hpp"

namespace naively {

// Documents [starts[i], starts[i + 1]) of `order` (or by number) are about the same work for every i.
template <class Work>
std::vector<std::size_t> shares(std::size_t size, std::size_t parts, Work&& work) {
    std::size_t all = 0, done = 0;
    for (std::size_t i = 0; i < size; ++i) all += work(i);
    std::vector<std::size_t> starts{0};
    for (std::size_t i = 0; i < size; ++i) {
        if (starts.size() < parts && done >= all / parts * starts.size()) starts.push_back(i);
        done += work(i);
    }
    starts.push_back(size);
    return starts;
}

// The numbers of one document, each once and in the order in which they come, and how often it is there.
class Uniques {
   public:
    std::vector<std::uint32_t> number, count;

    // In a table no larger than the document needs, so that it stays near; a stamp tells what is of this document.
    void of(const std::vector<std::uint32_t>& numbers) {
        make_room(numbers.size());
        number.resize(numbers.size());
        count.resize(numbers.size());
        std::uint32_t size = 0;
        for (const std::uint32_t n : numbers) {  // without a branch on what is new: half of them are
            std::size_t at = (n * 0x9e3779b1u) >> shift_;
            while (slots_[at].document == document_ && slots_[at].number != n) at = (at + 1) & mask_;
            Slot& slot = slots_[at];
            const bool first = slot.document != document_;
            number[size] = n;
            count[size] = 0;
            const std::uint32_t place = first ? size : slot.place;
            slot = {document_, n, place};
            ++count[place];
            size += first;
        }
        number.resize(size);
        count.resize(size);
    }

   private:
    struct Slot {
        std::uint32_t document = 0, number = 0, place = 0;
    };

    void make_room(std::size_t tokens) {
        if (++document_ == 0) {
            std::fill(slots_.begin(), slots_.end(), Slot{});
            document_ = 1;
        }
        if (slots_.size() >= 4 * tokens && !slots_.empty()) return;
        const std::size_t size = std::bit_ceil(std::max<std::size_t>(4 * tokens, 256));
        slots_.assign(size, Slot{});
        mask_ = size - 1;
        shift_ = 32 - static_cast<unsigned>(std::min(32, std::countr_zero(size)));
    }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    unsigned shift_ = 0;
    std::uint32_t document_ = 0;
};

// A list that grows without moving what it holds.
template <class T>
class Blocks {
   public:
    T& operator[](std::size_t i) { return blocks_[i / block][i % block]; }

    void hold(std::size_t size) {
        while (blocks_.size() * block < size) blocks_.push_back(std::make_unique<T[]>(block));
    }

   private:
    static constexpr std::size_t block = 1 << 12;
    std::vector<std::unique_ptr<T[]>> blocks_;
};

}  // namespace naively
