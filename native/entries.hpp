// Entries: what the words of a class come to in one share of the work, on their way to become cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cells.hpp"
#include "pages.hpp"
#include "sums.hpp"

namespace naively {

// Those of all shares, in the order of their classes.
template <class T>
using Shares = std::vector<Large<Entry<T>>>;

template <class T>
void renumber(Large<Entry<T>>& entries, const std::vector<std::uint32_t>& moved) {
    for (Entry<T>& entry : entries) entry.number = moved[entry.number];
}

// As many cells as there are entries, empty; made apart, as fresh memory takes its time.
template <class T>
Cells<T> room_for(const Shares<T>& shares, bool weights) {
    std::size_t size = 0;
    for (const auto& entries : shares) size += entries.size();
    Cells<T> cells;
    cells.feature.resize(size);
    cells.klass.resize(size);
    cells.value.resize((weights ? 3 : 2) * size);
    return cells;
}

// Numbers the entries as if there were no other words; what their numbers were, in order.
template <class T>
std::vector<std::uint32_t> squeeze(Shares<T>& shares) {
    std::vector<std::uint32_t> used;
    for (const auto& entries : shares)
        for (const Entry<T>& entry : entries) used.push_back(entry.number);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (auto& entries : shares)
        for (Entry<T>& entry : entries)
            entry.number =
                static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), entry.number) - used.begin());
    return used;
}

// Where the cells of each number begin, and the end.
template <class T>
Large<std::size_t> starts_of(const Shares<T>& shares, std::size_t numbers) {
    Large<std::size_t> starts(numbers + 1, 0);
    for (const auto& entries : shares)
        for (const Entry<T>& entry : entries) ++starts[entry.number + 1];
    for (std::size_t n = 0; n < numbers; ++n) starts[n + 1] += starts[n];
    return starts;
}

// Without the places that nothing came to.
template <class T>
void close_up(Cells<T>& cells) {
    const std::size_t size = cells.feature.size(), planes = cells.value.size() / size;
    T* const value = cells.value.data();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (value[size + i] == T(0)) continue;  // no document
        cells.feature[kept] = cells.feature[i];
        cells.klass[kept] = cells.klass[i];
        for (std::size_t p = 0; p < planes; ++p) value[p * size + kept] = value[p * size + i];
        ++kept;
    }
    for (std::size_t p = 1; p < planes; ++p) std::copy(value + p * size, value + p * size + kept, value + p * kept);
    cells.feature.resize(kept);
    cells.klass.resize(kept);
    cells.value.resize(planes * kept);
}

// Puts each entry into its place; one of a cell that another share has too is added to it.
template <class T>
void fill(Cells<T>& cells, const Shares<T>& shares, std::size_t numbers, bool weights) {
    Large<std::size_t> next = starts_of(shares, numbers);
    const std::size_t size = cells.feature.size();
    T* const value = cells.value.data();
    bool twice = false;
    for (const auto& entries : shares) {
        for (const Entry<T>& entry : entries) {
            std::size_t& place = next[entry.number];
            const bool again =
                place > 0 && cells.feature[place - 1] == entry.number && cells.klass[place - 1] == entry.klass;
            const std::size_t at = again ? place - 1 : place++;
            twice |= again;
            cells.feature[at] = entry.number;
            cells.klass[at] = entry.klass;
            value[at] += entry.sum.occurrences;
            value[size + at] += entry.sum.documents;
            if (weights) value[2 * size + at] += entry.sum.weight;
        }
    }
    if (twice) close_up(cells);
}

// The entries as cells; `cells` has room for them.
template <class T>
Cells<T> cells_of(Shares<T>& shares, std::size_t numbers, bool weights, Cells<T> cells) {
    if (numbers <= 8 * cells.feature.size()) {
        fill(cells, shares, numbers, weights);
        return cells;
    }
    const std::vector<std::uint32_t> used = squeeze(shares);
    fill(cells, shares, used.size(), weights);
    for (std::int64_t& feature : cells.feature) feature = used[static_cast<std::size_t>(feature)];
    return cells;
}

}  // namespace naively
