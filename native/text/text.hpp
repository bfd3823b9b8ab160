// Texts in bulk: counted by class, or read as sparse rows of word counts.
// Counts do not depend on the number of threads; only the names of hash buckets may.
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

// Texts as bytes, or as lists of tokens that the caller has found.
struct Documents {
    bool given = false;
    std::vector<std::string_view> texts;
    std::vector<Tokens> tokens;
    std::vector<char> missing;  // empty if no text is missing

    std::size_t size() const { return given ? tokens.size() : texts.size(); }
    bool is_missing(std::size_t i) const { return !missing.empty() && missing[i]; }
    // An estimate of the work that a document makes.
    std::size_t work(std::size_t i) const { return 16 + (given ? 8 * tokens[i].size() : texts[i].size()); }

    template <class Numbering>
    void read(std::size_t i, TokenReader<Numbering>& reader, std::vector<std::uint32_t>& to) const {
        if (given)
            reader.read(tokens[i], to);
        else
            reader.read(texts[i], to);
    }
};

// One unit of length-normalised weights is 1 / weight_unit.
constexpr double weight_unit = 4294967296.0;

// Cells with occurrences, documents and, if `weighted`, the sum of length-normalised sub-linear weights, (1 + log tf) /
// |1 + log tf|, in units of 2^-32. A missing document adds nothing.
template <class T>
Cells<T> count_texts(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                     int threads, Vocabulary& vocabulary);

struct BucketNames {
    std::vector<std::uint32_t> bucket;
    std::vector<std::string> name;
    std::vector<std::uint32_t> lead;
};

// The same by hash. Each bucket votes for a name (Boyer and Moore): a token that makes up more than half of the bucket
// wins. Several threads may each name a bucket; their leads can be united.
template <class T>
Cells<T> count_buckets(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       int threads, std::uint32_t buckets, BucketNames& names);

// Documents as they were read before: for each the numbers of its words, below zero for words without one, and their
// counts.
template <class I>
struct CountedRows {
    const std::int64_t* starts;
    const I* number;
    const std::int32_t* count;
    const double* weight;  // length-normalised sub-linear weights; null if they follow from the counts
    std::size_t rows;
};

// Count documents that were read before; their numbers are below `vocabulary`.
template <class T, class I>
Cells<T> count_rows(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads,
                    std::size_t vocabulary);

// Compressed sparse rows of counts.
struct TextRows {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> column, count;
};

// Read texts; an unknown word gets the next number of the vocabulary.
TextRows read_growing(const Documents& documents, const TokenRules& rules, int threads, Vocabulary& vocabulary);

// Read texts by a fixed vocabulary. `place` maps its first `places` numbers to columns (below zero: no column); null
// means each number is its own column. Words without a column are left out.
template <class Known>
TextRows read_fixed(const Documents& documents, const TokenRules& rules, int threads, const Known& vocabulary,
                    const std::int32_t* place, std::size_t places);

// Read texts by hash: columns are buckets; with `signs`, a token whose hash is negative counts as -1.
TextRows read_buckets(const Documents& documents, const TokenRules& rules, int threads, std::uint32_t buckets,
                      bool with_signs);

// Renumber the columns of rows (below zero: left out) and sort each row by column.
TextRows reorder(const std::int64_t* starts, const std::int32_t* column, const std::int32_t* count, std::size_t rows,
                 const std::int32_t* place, int threads);

}  // namespace naively
