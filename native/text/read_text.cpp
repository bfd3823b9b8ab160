#include <utility>

#include "base/pages.hpp"
#include "base/parallel.hpp"
#include "base/shares.hpp"
#include "text/stored.hpp"
#include "text/text.hpp"
#include "text/uniques.hpp"

namespace naively {
namespace {

struct ReadRows {
    std::vector<std::int32_t> column, count;
    std::vector<std::size_t> lengths;
};

// Append a row: column_of(number) is the column of a token, below zero if it has none.
template <class Once, class ColumnOf, class SignOf>
void append(const Once& once, ColumnOf column_of, SignOf sign_of, ReadRows& rows) {
    std::size_t size = rows.column.size();
    rows.column.resize(size + once.size);
    rows.count.resize(size + once.size);
    for (std::size_t k = 0; k < once.size; ++k) {
        const std::int32_t column = column_of(once.number[k]);
        rows.column[size] = column;
        rows.count[size] = sign_of(once.number[k]) * static_cast<std::int32_t>(once.count[k]);
        size += column >= 0;
    }
    rows.column.resize(size);
    rows.count.resize(size);
}

// Read documents one after another; once_of(numbers) gathers the different tokens of a document.
template <class Numbering, class OnceOf, class ColumnOf, class SignOf>
ReadRows read_share(const Documents& documents, const TokenRules& rules, Share& share, bool in_order,
                    Numbering& numbering, OnceOf once_of, ColumnOf column_of, SignOf sign_of) {
    ReadRows rows;
    TokenReader<Numbering> reader(rules, numbering);
    std::vector<std::uint32_t> numbers;
    share.each([&](std::size_t i) {
        const std::size_t before = rows.column.size();
        if (!documents.is_missing(i)) {
            numbers.clear();
            documents.read(i, reader, numbers);
            if (in_order) std::sort(numbers.begin(), numbers.end());
            append(once_of(numbers), column_of, sign_of, rows);
        }
        rows.lengths.push_back(rows.column.size() - before);
    });
    return rows;
}

// Gathers documents without room for the whole vocabulary, of which few texts touch little.
class Few {
   public:
    const Uniques& operator()(const std::vector<std::uint32_t>& numbers) {
        once_.of(numbers);
        return once_;
    }

   private:
    Uniques once_;
};

constexpr auto always_positive = [](std::uint32_t) { return 1; };

TextRows joined(std::vector<ReadRows> shares) {
    TextRows rows;
    std::size_t size = 0, documents = 0;
    for (const ReadRows& share : shares) {
        size += share.column.size();
        documents += share.lengths.size();
    }
    rows.starts.reserve(documents + 1);
    rows.starts.push_back(0);
    if (shares.size() == 1) {
        rows.column = std::move(shares[0].column);
        rows.count = std::move(shares[0].count);
    } else {
        rows.column.reserve(size);
        rows.count.reserve(size);
    }
    for (ReadRows& share : shares) {
        if (shares.size() > 1) {
            rows.column.insert(rows.column.end(), share.column.begin(), share.column.end());
            rows.count.insert(rows.count.end(), share.count.begin(), share.count.end());
            share.column = {};
            share.count = {};
        }
        for (const std::size_t length : share.lengths)
            rows.starts.push_back(rows.starts.back() + static_cast<std::int64_t>(length));
    }
    return rows;
}

Parting parted(const Documents& documents, int threads) {
    return Parting(documents.size(), threads, Ends::moving, [&](std::size_t i) { return documents.work(i); });
}

}  // namespace

TextRows read_growing(const Documents& documents, const TokenRules& rules, int threads, Vocabulary& vocabulary) {
    using Read = std::pair<Vocabulary, ReadRows>;
    Parting parting = parted(documents, threads);
    std::vector<Read> read = in_shares(parting, threads, [&](Share& share) {
        Vocabulary own(vocabulary.seed());
        Vocabulary& mine = share.begin() == 0 ? vocabulary : own;
        Growing numbering(mine);
        Gathered once;
        Large<std::uint32_t> counts;
        const auto once_of = [&](const std::vector<std::uint32_t>& numbers) -> const Gathered& {
            if (counts.size() < mine.size()) counts.resize(mine.size(), 0);
            once.of(numbers, [&](std::uint32_t n) -> std::uint32_t& { return counts[n]; });
            return once;
        };
        ReadRows rows = read_share(
            documents, rules, share, false, numbering, once_of,
            [](std::uint32_t number) { return static_cast<std::int32_t>(number); }, always_positive);
        return Read(std::move(own), std::move(rows));
    });
    std::vector<ReadRows> shares;
    for (auto& [own, rows] : read) {
        if (!shares.empty()) {
            const std::vector<std::uint32_t> moved = vocabulary.absorb(own.names(), own.size());
            for (std::int32_t& column : rows.column)
                column = static_cast<std::int32_t>(moved[static_cast<std::size_t>(column)]);
        }
        shares.push_back(std::move(rows));
    }
    return joined(std::move(shares));
}

template <class Known>
TextRows read_fixed(const Documents& documents, const TokenRules& rules, int threads, const Known& vocabulary,
                    const std::int32_t* place, std::size_t places) {
    Parting parting = parted(documents, threads);
    return joined(in_shares(parting, threads, [&](Share& share) {
        Fixed<Known> numbering{vocabulary};
        return read_share(
            documents, rules, share, false, numbering, Few(),
            [&](std::uint32_t number) {
                if (number >= places) return -1;
                return place ? place[number] : static_cast<std::int32_t>(number);
            },
            always_positive);
    }));
}

template TextRows read_fixed(const Documents&, const TokenRules&, int, const Vocabulary&, const std::int32_t*,
                             std::size_t);
template TextRows read_fixed(const Documents&, const TokenRules&, int, const StoredVocabulary&, const std::int32_t*,
                             std::size_t);

TextRows read_buckets(const Documents& documents, const TokenRules& rules, int threads, std::uint32_t buckets,
                      bool with_signs) {
    Parting parting = parted(documents, threads);
    return joined(in_shares(parting, threads, [&](Share& share) {
        Buckets numbering{buckets, with_signs};
        return read_share(
            documents, rules, share, true, numbering, Few(),
            [](std::uint32_t number) { return static_cast<std::int32_t>(number / 2); },
            [](std::uint32_t number) { return number % 2 ? -1 : 1; });
    }));
}

TextRows reorder(const std::int64_t* starts, const std::int32_t* column, const std::int32_t* count, std::size_t rows,
                 const std::int32_t* place, int threads) {
    TextRows result;
    result.starts.assign(rows + 1, 0);
    for (std::size_t i = 0; i < rows; ++i) {
        std::int64_t kept = 0;
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) kept += place[column[k]] >= 0;
        result.starts[i + 1] = result.starts[i] + kept;
    }
    result.column.resize(static_cast<std::size_t>(result.starts[rows]));
    result.count.resize(result.column.size());
    const std::size_t groups = std::min<std::size_t>(rows, 64);
    for_each_task(groups, worth_threads(threads, result.column.size()), [&](std::size_t g) {
        std::vector<std::uint64_t> row;
        for (std::size_t i = rows * g / groups; i < rows * (g + 1) / groups; ++i) {
            row.clear();
            for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k)
                if (place[column[k]] >= 0)
                    row.push_back((static_cast<std::uint64_t>(place[column[k]]) << 32) |
                                  static_cast<std::uint32_t>(count[k]));
            std::sort(row.begin(), row.end());
            auto at = static_cast<std::size_t>(result.starts[i]);
            for (const std::uint64_t entry : row) {
                result.column[at] = static_cast<std::int32_t>(entry >> 32);
                result.count[at++] = static_cast<std::int32_t>(static_cast<std::uint32_t>(entry));
            }
        }
    });
    return result;
}

}  // namespace naively
