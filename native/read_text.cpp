#include <utility>

#include "pages.hpp"
#include "parallel.hpp"
#include "shares.hpp"
#include "stored.hpp"
#include "text.hpp"
#include "uniques.hpp"

namespace naively {
namespace {

struct Share {
    std::vector<std::int32_t> column, count;
    std::vector<std::size_t> lengths;
};

// Appends a row: column_of(number) is the column of a token, below zero where it has none.
template <class Once, class ColumnOf, class SignOf>
void append(const Once& once, ColumnOf column_of, SignOf sign_of, Share& share) {
    std::size_t size = share.column.size();
    share.column.resize(size + once.size);
    share.count.resize(size + once.size);
    for (std::size_t k = 0; k < once.size; ++k) {
        const std::int32_t column = column_of(once.number[k]);
        share.column[size] = column;
        share.count[size] = sign_of(once.number[k]) * static_cast<std::int32_t>(once.count[k]);
        size += column >= 0;
    }
    share.column.resize(size);
    share.count.resize(size);
}

// Reads documents one after another; once_of(numbers) is what one holds.
template <class Numbering, class OnceOf, class ColumnOf, class SignOf>
void read_share(const Documents& documents, const TokenRules& rules, std::size_t from, std::size_t to, bool in_order,
                Numbering& numbering, OnceOf once_of, ColumnOf column_of, SignOf sign_of, Share& share) {
    TokenReader<Numbering> reader(rules, numbering);
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = from; i < to; ++i) {
        const std::size_t before = share.column.size();
        if (!documents.is_missing(i)) {
            numbers.clear();
            documents.read(i, reader, numbers);
            if (in_order) std::sort(numbers.begin(), numbers.end());
            append(once_of(numbers), column_of, sign_of, share);
        }
        share.lengths.push_back(share.column.size() - before);
    }
}

// Without room for the whole vocabulary, of which few texts touch little.
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

TextRows joined(std::vector<Share>& shares) {
    TextRows rows;
    std::size_t size = 0, documents = 0;
    for (const Share& share : shares) {
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
    for (Share& share : shares) {
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

std::vector<std::size_t> document_shares(const Documents& documents, int threads) {
    return shares(documents.size(), static_cast<std::size_t>(std::max(threads, 1)),
                  [&](std::size_t i) { return documents.work(i); });
}

}  // namespace

TextRows read_growing(const Documents& documents, const TokenRules& rules, int threads, Vocabulary& vocabulary) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Vocabulary> own(parts - 1, Vocabulary(vocabulary.seed()));
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Vocabulary& mine = p == 0 ? vocabulary : own[p - 1];
        Growing numbering(mine);
        Gathered once;
        Large<std::uint32_t> counts;
        const auto once_of = [&](const std::vector<std::uint32_t>& numbers) -> const Gathered& {
            if (counts.size() < mine.size()) counts.resize(mine.size(), 0);
            once.of(numbers, [&](std::uint32_t n) -> std::uint32_t& { return counts[n]; });
            return once;
        };
        read_share(
            documents, rules, starts[p], starts[p + 1], false, numbering, once_of,
            [](std::uint32_t number) { return static_cast<std::int32_t>(number); }, always_positive, shares[p]);
    });
    for (std::size_t p = 1; p < parts; ++p) {
        const std::vector<std::uint32_t> moved = vocabulary.absorb(own[p - 1], own[p - 1].size());
        for (std::int32_t& column : shares[p].column)
            column = static_cast<std::int32_t>(moved[static_cast<std::size_t>(column)]);
    }
    return joined(shares);
}

template <class Known>
TextRows read_fixed(const Documents& documents, const TokenRules& rules, int threads, const Known& vocabulary,
                    const std::int32_t* place, std::size_t places) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Fixed<Known> numbering{vocabulary};
        read_share(
            documents, rules, starts[p], starts[p + 1], false, numbering, Few(),
            [&](std::uint32_t number) {
                if (number >= places) return -1;
                return place ? place[number] : static_cast<std::int32_t>(number);
            },
            always_positive, shares[p]);
    });
    return joined(shares);
}

template TextRows read_fixed(const Documents&, const TokenRules&, int, const Vocabulary&, const std::int32_t*,
                             std::size_t);
template TextRows read_fixed(const Documents&, const TokenRules&, int, const StoredVocabulary&, const std::int32_t*,
                             std::size_t);

TextRows read_buckets(const Documents& documents, const TokenRules& rules, int threads, std::uint32_t buckets,
                      bool with_signs) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Buckets numbering{buckets, with_signs};
        read_share(
            documents, rules, starts[p], starts[p + 1], true, numbering, Few(),
            [](std::uint32_t number) { return static_cast<std::int32_t>(number / 2); },
            [](std::uint32_t number) { return number % 2 ? -1 : 1; }, shares[p]);
    });
    return joined(shares);
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
