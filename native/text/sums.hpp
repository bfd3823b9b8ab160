// Sums: what the documents of a class add up to for each word: occurrences, documents, weights.
// Classes come one after another; all sums are exact, so they do not depend on the order of documents.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/fixed_point.hpp"
#include "base/pages.hpp"
#include "base/wide.hpp"
#include "text/text.hpp"
#include "text/uniques.hpp"

namespace naively {

template <class T>
struct Sum {
    T occurrences{}, documents{}, weight{};
};

// The sums of a word so far, and its count in the current document, together since they are used together.
template <class T>
struct WordSum {
    Sum<T> sum;
    std::uint32_t count = 0;
};

// The sums of one class after another.
template <class T>
struct Entries {
    struct Class {
        std::int32_t klass;
        std::size_t end;
    };
    Large<std::uint32_t> number;
    Large<Sum<T>> sum;
    std::vector<Class> classes;
    bool in_order = true;  // true if the numbers of each class ascend
};

// 1 + log(count); small counts, which are the most frequent, come from a table.
inline const std::array<double, 64> small_counts = [] {
    std::array<double, 64> table{};
    for (std::size_t i = 1; i < table.size(); ++i) table[i] = 1.0 + std::log(static_cast<double>(i));
    return table;
}();

NAIVELY_INLINE double sublinear(std::uint32_t count) {
    return count < small_counts.size() ? small_counts[count] : 1.0 + std::log(static_cast<double>(count));
}

// Adds up documents into the sums of one class after another.
template <class T>
class Sums {
   public:
    Sums(bool weights, Entries<T>& entries) : weights_(weights), entries_(entries) {}

    void add(const std::vector<std::uint32_t>& numbers, T times, std::size_t vocabulary) {
        hold(vocabulary);
        once_.of(numbers, [&](std::uint32_t n) -> std::uint32_t& { return sums_[n].count; });
        weigh(once_.size, [&](std::size_t i) { return once_.count[i]; });
        for (std::size_t i = 0; i < once_.size; ++i)
            add(once_.number[i], once_.count[i], times, weight_of(once_.count[i]));
    }

    // Add a document of which the words are counted already. Words with a number below zero only add to its length.
    // Weights are computed from the counts unless `weight` has them.
    template <class I>
    void add(const I* number, const std::int32_t* count, const double* known, std::size_t size, T times,
             std::size_t vocabulary) {
        hold(vocabulary);
        if (!known) weigh(size, [&](std::size_t i) { return static_cast<std::uint32_t>(count[i]); });
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t next = std::min(i + prefetch_distance, size - 1);
            if (number[next] >= 0) NAIVELY_PREFETCH(&sums_[static_cast<std::size_t>(number[next])]);
            if (number[i] < 0) continue;
            const auto occurrences = static_cast<std::uint32_t>(count[i]);
            add(static_cast<std::uint32_t>(number[i]), occurrences, times,
                known ? rounded(known[i] * weight_unit) : weight_of(occurrences));
        }
    }

    // End the class: append its sums in the order of the numbers.
    void finish(std::int32_t klass) {
        std::size_t size = entries_.number.size();
        for (const std::uint64_t bits : touched_) size += static_cast<std::size_t>(std::popcount(bits));
        make_room(entries_.number, size);
        make_room(entries_.sum, size);
        for (std::size_t at = 0; at < touched_.size(); ++at) {
            for (std::uint64_t bits = touched_[at]; bits; bits &= bits - 1) {
                const auto number = static_cast<std::uint32_t>(64 * at + static_cast<unsigned>(std::countr_zero(bits)));
                entries_.number.push_back(number);
                entries_.sum.push_back(sums_[number].sum);
                sums_[number].sum = {};
            }
            touched_[at] = 0;
        }
        entries_.classes.push_back({klass, size});
    }

   private:
    template <class Room>
    static void make_room(Room& room, std::size_t size) {
        if (size > room.capacity()) room.reserve(std::max(size, 2 * room.size()));
    }

    void hold(std::size_t vocabulary) {
        if (sums_.size() < vocabulary) sums_.resize(vocabulary);
        if (touched_.size() * 64 < vocabulary) touched_.resize(vocabulary / 64 + 1, 0);
    }

    static std::int64_t rounded(double value) { return static_cast<std::int64_t>(value + 0.5); }

    NAIVELY_INLINE std::int64_t weight_of(std::uint32_t count) const {
        return count < small_ ? weight_[count] : rounded(unit_ * sublinear(count));
    }

    NAIVELY_INLINE void add(std::uint32_t number, std::uint32_t count, T times, std::int64_t weight) {
        Sum<T>& sum = sums_[number].sum;
        if (sum.documents == T{}) touched_[number / 64] |= std::uint64_t{1} << (number % 64);
        if constexpr (std::is_same_v<T, FixedPoint>) {
            sum.occurrences += times.times(count);
            if (weight) sum.weight += times.share(static_cast<std::uint64_t>(weight));
        } else {
            sum.occurrences += times * static_cast<T>(count);
            sum.weight += times * weight;
        }
        sum.documents += times;
    }

    // The weight of a word from its count, after the document is scaled to length one.
    template <class Count>
    NAIVELY_INLINE void weigh(std::size_t size, Count count) {
        if (!weights_ || size == 0) return;
        double squares = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            const double weight = sublinear(count(i));
            squares += weight * weight;
        }
        unit_ = weight_unit / std::sqrt(squares);
        for (std::uint32_t count = 1; count < small_; ++count) weight_[count] = rounded(unit_ * sublinear(count));
    }

    static constexpr std::size_t prefetch_distance = 16;

    bool weights_;
    Entries<T>& entries_;
    Large<WordSum<T>> sums_;
    std::vector<std::uint64_t> touched_;  // one bit per number: does the class have it?
    Gathered once_;
    static constexpr std::uint32_t small_ = 8;
    std::array<std::int64_t, small_> weight_{};
    double unit_ = 0.0;
};

}  // namespace naively
