// Entries: sums for a (word, class) pair in one share of the work, before shares are united into cells.
// The cells do not depend on how the work was divided: words are in order of their numbers, classes in order within a
// word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "base/parallel.hpp"
#include "base/wide.hpp"
#include "count/cells.hpp"
#include "text/sums.hpp"

namespace naively {

// The entries of all shares, in the order of their classes.
template <class T>
using Shares = std::vector<Entries<T>>;

template <class T>
void renumber(Entries<T>& entries, const std::vector<std::uint32_t>& moved) {
    for (std::uint32_t& number : entries.number) number = moved[number];
    entries.in_order = false;
}

template <class T>
std::size_t size_of(const Shares<T>& shares) {
    std::size_t size = 0;
    for (const auto& entries : shares) size += entries.number.size();
    return size;
}

template <class T>
void resize(Cells<T>& cells, std::size_t size, std::size_t planes) {
    cells.feature.resize(size);
    cells.klass.resize(size);
    cells.value.resize(planes * size);
}

// Allocate as many empty cells as there are entries; apart from filling them, since fresh memory takes time.
template <class T>
Cells<T> room_for(const Shares<T>& shares, bool weights) {
    Cells<T> cells;
    resize(cells, size_of(shares), weights ? 3 : 2);
    return cells;
}

// Renumber the entries as if there were no other words; returns the former numbers, in order.
template <class T>
std::vector<std::uint32_t> squeeze(Shares<T>& shares) {
    std::vector<std::uint32_t> used;
    for (const auto& entries : shares) used.insert(used.end(), entries.number.begin(), entries.number.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (auto& entries : shares)
        for (std::uint32_t& number : entries.number)
            number = static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), number) - used.begin());
    return used;
}

// The boundaries of ranges of numbers that have about equally many entries. They are few, since each range looks at
// all entries.
template <class T>
std::vector<std::uint32_t> ranges_of(const Shares<T>& shares, std::size_t numbers, int threads) {
    std::vector<std::uint32_t> some, starts{0};
    const auto ranges = static_cast<std::size_t>(std::clamp(worth_threads(threads, size_of(shares)), 1, 16));
    if (ranges > 1) {
        for (const auto& entries : shares)
            for (std::size_t i = 0; i < entries.number.size(); i += 64) some.push_back(entries.number[i]);
        std::sort(some.begin(), some.end());
    }
    for (std::size_t r = 1; r < ranges; ++r) starts.push_back(some[some.size() * r / ranges]);
    starts.push_back(static_cast<std::uint32_t>(numbers));
    return starts;
}

// Call each(entries, i, klass) for the entries of a range of numbers. Where entries are in no order, soon(number) is
// called some entries earlier, so that its memory can be prefetched.
template <class T, class Soon, class Each>
void in_range(const Shares<T>& shares, std::uint32_t from, std::uint32_t to, Soon soon, Each each) {
    for (const auto& entries : shares) {
        const std::uint32_t* const number = entries.number.data();
        std::size_t i = 0;
        for (const auto& [klass, end] : entries.classes) {
            if (entries.in_order) {
                i = static_cast<std::size_t>(std::lower_bound(number + i, number + end, from) - number);
                for (; i < end && number[i] < to; ++i) each(entries, i, klass);
                i = end;
            }
            while (i < end) {
                std::size_t found[64], n_found = 0;
                for (; i < end && n_found < std::size(found);
                     ++i) {  // no branch depends on the number, which may be any
                    found[n_found] = i;
                    n_found += number[i] - from < to - from;
                }
                for (std::size_t k = 0; k < n_found; ++k) soon(number[found[k]]);
                for (std::size_t k = 0; k < n_found; ++k) each(entries, found[k], klass);
            }
        }
    }
}

// For each number, how many cells it has (lower half) and the last class seen plus one (upper half). The entries of a
// number come in the order of their classes.
template <class T>
void count_cells(const Shares<T>& shares, std::uint32_t from, std::uint32_t to, Large<std::uint64_t>& counts) {
    in_range(
        shares, from, to, [&](std::uint32_t number) { NAIVELY_PREFETCH(&counts[number]); },
        [&](const Entries<T>& entries, std::size_t i, std::int32_t klass) {
            std::uint64_t& count = counts[entries.number[i]];
            const auto last = static_cast<std::uint64_t>(klass) + 1;
            count = last << 32 | ((count & 0xffffffff) + (count >> 32 != last));
        });
}

// Write each entry to the next cell of its number; an entry whose cell another share has written is added to it.
template <class T>
void fill_range(const Shares<T>& shares, std::uint32_t from, std::uint32_t to, Large<std::uint64_t>& next,
                std::size_t planes, Cells<T>& cells) {
    const std::size_t size = cells.feature.size(), begin = next[from];
    std::int64_t* const feature = cells.feature.data();
    std::int32_t* const klass_of = cells.klass.data();
    T* const value = cells.value.data();
    in_range(
        shares, from, to,
        [&](std::uint32_t number) {
            const std::uint64_t at = next[number];
            NAIVELY_PREFETCH(feature + at);
            NAIVELY_PREFETCH(klass_of + at);
            for (std::size_t p = 0; p < planes; ++p) NAIVELY_PREFETCH(value + p * size + at);
        },
        [&](const Entries<T>& entries, std::size_t i, std::int32_t klass) {
            const std::uint32_t number = entries.number[i];
            std::uint64_t& place = next[number];
            const bool again = place > begin && feature[place - 1] == number && klass_of[place - 1] == klass;
            const std::uint64_t at = again ? place - 1 : place++;
            feature[at] = number;
            klass_of[at] = klass;
            value[at] += entries.sum[i].occurrences;
            value[size + at] += entries.sum[i].documents;
            if (planes == 3) value[2 * size + at] += entries.sum[i].weight;
        });
}

template <class T>
void fill(Cells<T>& cells, const Shares<T>& shares, std::size_t numbers, std::size_t planes, int threads) {
    const std::vector<std::uint32_t> ranges = ranges_of(shares, numbers, threads);
    const auto in_ranges = [&](auto work) {
        for_each_task(ranges.size() - 1, threads, [&](std::size_t r) {
            if (ranges[r] < ranges[r + 1]) work(ranges[r], ranges[r + 1]);
        });
    };
    Large<std::uint64_t> next(numbers, 0);
    in_ranges([&](std::uint32_t from, std::uint32_t to) { count_cells(shares, from, to, next); });
    std::size_t size = 0;
    for (std::uint64_t& place : next) size += std::exchange(place, size) & 0xffffffff;
    resize(cells, size, planes);
    in_ranges([&](std::uint32_t from, std::uint32_t to) { fill_range(shares, from, to, next, planes, cells); });
}

// Convert the entries to cells; `cells` must have room for them.
template <class T>
Cells<T> cells_of(Shares<T>& shares, std::size_t numbers, bool weights, int threads, Cells<T> cells) {
    const std::size_t planes = weights ? 3 : 2;
    if (numbers <= 8 * cells.feature.size()) {
        fill(cells, shares, numbers, planes, threads);
        return cells;
    }
    const std::vector<std::uint32_t> used = squeeze(shares);
    fill(cells, shares, used.size(), planes, threads);
    for (std::int64_t& feature : cells.feature) feature = used[static_cast<std::size_t>(feature)];
    return cells;
}

}  // namespace naively
