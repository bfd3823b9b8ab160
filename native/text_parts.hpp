// What counting and reading of texts have in common: shares of the work, and what is there once or more often.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// Where a number was last seen, and its place among those of that document.
struct Seen {
    std::uint32_t document = 0, at = 0;
};

// The numbers of one document, each once, and how often it is there.
class Uniques {
   public:
    std::vector<std::uint32_t> number, count;

    // In the order of the numbers.
    void in_order(std::vector<std::uint32_t>& numbers) {
        number.clear();
        count.clear();
        std::sort(numbers.begin(), numbers.end());
        for (std::size_t i = 0; i < numbers.size();) {
            std::size_t j = i;
            while (j < numbers.size() && numbers[j] == numbers[i]) ++j;
            number.push_back(numbers[i]);
            count.push_back(static_cast<std::uint32_t>(j - i));
            i = j;
        }
    }

    // As they come, where it does not pay to keep a place for every number there is.
    void by_sorting(const std::vector<std::uint32_t>& numbers) {
        const auto place = [](std::uint64_t pair) { return static_cast<std::uint32_t>(pair); };
        pairs_.clear();
        for (std::size_t i = 0; i < numbers.size(); ++i)
            pairs_.push_back((static_cast<std::uint64_t>(numbers[i]) << 32) | i);
        std::sort(pairs_.begin(), pairs_.end());
        count.assign(numbers.size(), 0);
        for (std::size_t i = 0, first = 0; i < pairs_.size(); ++i) {
            if (pairs_[i] >> 32 != pairs_[first] >> 32) first = i;
            ++count[place(pairs_[first])];
        }
        number.clear();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (count[i] == 0) continue;
            number.push_back(numbers[i]);
            count[kept++] = count[i];
        }
        count.resize(kept);
    }

    // As they come. seen(n) is the place kept for a number; `document` differs from one to the next, and is never 0.
    template <class SeenOf>
    NAIVELY_INLINE void by_place(const std::vector<std::uint32_t>& numbers, std::uint32_t document, SeenOf&& seen) {
        constexpr std::size_t ahead = 12;
        number.resize(numbers.size());
        count.resize(numbers.size());
        std::uint32_t size = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {  // without branches: half of them come for the first time
            NAIVELY_PREFETCH(&seen(numbers[i + ahead < numbers.size() ? i + ahead : i]));
            Seen& mine = seen(numbers[i]);
            const bool first = mine.document != document;
            number[size] = numbers[i];
            count[size] = 0;
            const std::uint32_t at = first ? size : mine.at;
            mine = {document, at};
            ++count[at];
            size += first;
        }
        number.resize(size);
        count.resize(size);
    }

   private:
    std::vector<std::uint64_t> pairs_;
};

// Grows in leaps, so that growing with a vocabulary costs little.
template <class T>
void hold(std::vector<T>& places, std::size_t vocabulary) {
    if (places.size() < vocabulary) places.resize(vocabulary + vocabulary / 2);
}

}  // namespace naively
