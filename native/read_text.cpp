#include <utility>

#include "parallel.hpp"
#include "text.hpp"
#include "text_parts.hpp"

namespace naively {
namespace {

struct Share {
    std::vector<std::int32_t> column, count;
    std::vector<std::size_t> lengths;
};

// How the numbers of a document are made to be there once each.
enum class Way { by_place, by_sorting, in_order };

// Reads documents one after another; keep(number, count, share) says what becomes of each token.
template <class Numbering, class Size, class Keep>
void read_share(const Documents& documents, const TokenRules& rules, std::size_t from, std::size_t to, Way way,
                Numbering& numbering, Size size, Keep keep, Share& share) {
    TokenReader<Numbering> reader(rules, numbering);
    Uniques once;
    std::vector<Seen> seen;
    std::uint32_t document = 0;
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = from; i < to; ++i) {
        const std::size_t before = share.column.size();
        if (!documents.is_missing(i)) {
            numbers.clear();
            documents.read(i, reader, numbers);
            if (way == Way::in_order) {
                once.in_order(numbers);
            } else if (way == Way::by_sorting) {
                once.by_sorting(numbers);
            } else {
                hold(seen, size());
                if (++document == 0) {
                    std::fill(seen.begin(), seen.end(), Seen{});
                    document = 1;
                }
                once.by_place(numbers, document, [&](std::uint32_t n) -> Seen& { return seen[n]; });
            }
            for (std::size_t k = 0; k < once.number.size(); ++k)
                keep(once.number[k], static_cast<std::int32_t>(once.count[k]), share);
        }
        share.lengths.push_back(share.column.size() - before);
    }
}

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

// Whether the documents are so little beside the vocabulary that a place for each of its numbers would cost more.
bool is_little(const Documents& documents, std::size_t vocabulary) {
    std::size_t work = 0;
    for (std::size_t i = 0; i < documents.size() && work < 4 * vocabulary; ++i) work += documents.work(i);
    return work < 4 * vocabulary;
}

}  // namespace

TextRows read_growing(const Documents& documents, const TokenRules& rules, int threads, Vocabulary& vocabulary) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Vocabulary> own(parts - 1, Vocabulary(vocabulary.seed()));
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Vocabulary& mine = p == 0 ? vocabulary : own[p - 1];
        Growing numbering{mine};
        read_share(
            documents, rules, starts[p], starts[p + 1], Way::by_place, numbering, [&] { return mine.size(); },
            [](std::uint32_t number, std::int32_t count, Share& share) {
                share.column.push_back(static_cast<std::int32_t>(number));
                share.count.push_back(count);
            },
            shares[p]);
    });
    for (std::size_t p = 1; p < parts; ++p) {
        const std::vector<std::uint32_t> moved = vocabulary.absorb(own[p - 1], own[p - 1].size());
        for (std::int32_t& column : shares[p].column)
            column = static_cast<std::int32_t>(moved[static_cast<std::size_t>(column)]);
    }
    return joined(shares);
}

TextRows read_fixed(const Documents& documents, const TokenRules& rules, int threads, const Vocabulary& vocabulary,
                    const std::int32_t* place, std::size_t places) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    const bool little = is_little(documents, vocabulary.size());
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Fixed numbering{vocabulary};
        read_share(
            documents, rules, starts[p], starts[p + 1], little ? Way::by_sorting : Way::by_place, numbering,
            [&] { return vocabulary.size(); },
            [&](std::uint32_t number, std::int32_t count, Share& share) {
                if (number >= places) return;
                const std::int32_t column = place ? place[number] : static_cast<std::int32_t>(number);
                if (column < 0) return;
                share.column.push_back(column);
                share.count.push_back(count);
            },
            shares[p]);
    });
    return joined(shares);
}

TextRows read_buckets(const Documents& documents, const TokenRules& rules, int threads, std::uint32_t buckets,
                      bool with_signs) {
    const std::vector<std::size_t> starts = document_shares(documents, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Share> shares(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Buckets numbering{buckets, with_signs};
        read_share(
            documents, rules, starts[p], starts[p + 1], Way::in_order, numbering, [] { return std::size_t{0}; },
            [](std::uint32_t number, std::int32_t count, Share& share) {
                share.column.push_back(static_cast<std::int32_t>(number / 2));
                share.count.push_back(number % 2 ? -count : count);
            },
            shares[p]);
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
