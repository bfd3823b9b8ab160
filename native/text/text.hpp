// Texts: many of them, counted by class or read as sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "count/cells.hpp"
#include "count/count.hpp"
#include "text/tokens.hpp"

namespace naively {

// Texts as bytes, or as lists of tokens that somebody else has found.
struct Documents {
    bool given = false;
    std::vector<std::string_view> texts;
    std::vector<Tokens> tokens;
    std::vector<char> missing;  // empty: none is

    std::size_t size() const { return given ? tokens.size() : texts.size(); }
    bool is_missing(std::size_t i) const { return !missing.empty() && missing[i]; }
    // About how much work a document is.
    std::size_t work(std::size_t i) const { return 16 + (given ? 8 * tokens[i].size() : texts[i].size()); }

    template <class Numbering>
    void read(std::size_t i, TokenReader<Numbering>& reader, std::vector<std::uint32_t>& to) const {
        if (given)
            reader.read(tokens[i], to);
        else
            reader.read(texts[i], to);
    }
};

// One part of the whole, in length-normalised weights.
constexpr double weight_unit = 4294967296.0;

// Cells with occurrences, documents and, where asked for, the sum of length-normalised sub-linear weights,
// (1 + log tf) / |1 + log tf|, in units of 2^-32. A document that is missing adds nothing.
template <class T>
Cells<T> count_texts(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                     int threads, Vocabulary& vocabulary);

struct BucketNames {
    std::vector<std::uint32_t> bucket;
    std::vector<std::string> name;
    std::vector<std::uint32_t> lead;
};

// The same by hash. Each bucket votes for a name (Boyer and Moore): one that more than half of what fell into it has
// will lead. A bucket may be named more than once, by different threads; leads can be taken together.
template <class T>
Cells<T> count_buckets(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       int threads, std::uint32_t buckets, BucketNames& names);

// Texts that were read before: the numbers of their words, below zero where one has none, and how often each is there.
template <class I>
struct CountedRows {
    const std::int64_t* starts;
    const I* number;
    const std::int32_t* count;
    const double* weight;  // length-normalised and sub-linear; null: as the counts say
    std::size_t rows;
};

// The same of these, whose numbers are below `vocabulary`.
template <class T, class I>
Cells<T> count_rows(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads,
                    std::size_t vocabulary);

// Compressed sparse rows of counts.
struct TextRows {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> column, count;
};

// What is new gets the next number.
TextRows read_growing(const Documents& documents, const TokenRules& rules, int threads, Vocabulary& vocabulary);

// Only what has a place gets in, under that number; `place` has one for each of so many numbers (below zero: none), or
// is null where each is its own. What lies beyond has none.
template <class Known>
TextRows read_fixed(const Documents& documents, const TokenRules& rules, int threads, const Known& vocabulary,
                    const std::int32_t* place, std::size_t places);

// By hash: the columns are buckets; with signs, a token whose hash is negative counts below zero.
TextRows read_buckets(const Documents& documents, const TokenRules& rules, int threads, std::uint32_t buckets,
                      bool with_signs);

// Rows with other numbers for their columns (below zero: left out), in order in every row.
TextRows reorder(const std::int64_t* starts, const std::int32_t* column, const std::int32_t* count, std::size_t rows,
                 const std::int32_t* place, int threads);

}  // namespace naively
