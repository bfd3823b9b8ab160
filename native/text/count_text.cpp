#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "base/shares.hpp"
#include "text/entries.hpp"
#include "text/sums.hpp"
#include "text/text.hpp"

namespace naively {
namespace {

// The rows that add something, in the order of their classes.
template <class Missing>
std::vector<std::size_t> by_class(std::size_t rows, const Labels& labels, Missing missing) {
    std::vector<std::size_t> next(labels.classes + 1, 0);
    const auto counts = [&](std::size_t i) { return !missing(i) && labels.weight_of(i) != 0.0; };
    for (std::size_t i = 0; i < rows; ++i)
        if (counts(i)) ++next[static_cast<std::size_t>(labels.klass[i]) + 1];
    for (std::size_t c = 0; c < labels.classes; ++c) next[c + 1] += next[c];
    std::vector<std::size_t> order(next[labels.classes]);
    for (std::size_t i = 0; i < rows; ++i)
        if (counts(i)) order[next[static_cast<std::size_t>(labels.klass[i])]++] = i;
    return order;
}

std::vector<std::size_t> by_class(const Documents& documents, const Labels& labels) {
    return by_class(documents.size(), labels, [&](std::size_t i) { return documents.is_missing(i); });
}

// The weight of a row in the type of its sums; 64 bits are for whole weights.
template <class T>
T times_of(const Labels& labels, std::size_t row) {
    if constexpr (std::is_same_v<T, FixedPoint>) return labels.weight_as<FixedPoint>(row);
    return static_cast<T>(labels.weight_of(row));
}

// Call add(row, times) for the rows of one class after another.
template <class T, class Add>
void in_classes(const Labels& labels, const std::vector<std::size_t>& order, Share& share, Sums<T>& sums, Add add) {
    std::optional<std::int32_t> klass;
    share.each([&](std::size_t i) {
        const std::size_t row = order[i];
        if (klass && *klass != labels.klass[row]) sums.finish(*klass);
        klass = labels.klass[row];
        add(row, times_of<T>(labels, row));
    });
    if (klass) sums.finish(*klass);
}

template <class T, class Numbering, class Size>
Entries<T> count_share(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       const std::vector<std::size_t>& order, Share& share, Numbering& numbering, Size size) {
    Entries<T> entries;
    TokenReader<Numbering> reader(rules, numbering);
    Sums<T> sums(weights, entries);
    std::vector<std::uint32_t> numbers;
    in_classes(labels, order, share, sums, [&](std::size_t row, T times) {
        numbers.clear();
        documents.read(row, reader, numbers);
        sums.add(numbers, times, size());
    });
    return entries;
}

Parting parted(const Documents& documents, const std::vector<std::size_t>& order, int threads, Ends ends) {
    return Parting(order.size(), threads, ends, [&](std::size_t i) { return documents.work(order[i]); });
}

}  // namespace

template <class T>
Cells<T> count_texts(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                     int threads, Vocabulary& vocabulary) {
    const std::vector<std::size_t> order = by_class(documents, labels);
    struct Counted {
        Vocabulary own;
        Entries<T> entries;
    };
    Parting parting = parted(documents, order, threads, Ends::moving);
    std::vector<Counted> counted = in_shares(parting, threads, [&](Share& share) {
        Counted result{Vocabulary(vocabulary.seed()), {}};
        Vocabulary& mine = share.begin() == 0 ? vocabulary : result.own;
        Growing numbering(mine);
        result.entries =
            count_share<T>(documents, labels, rules, weights, order, share, numbering, [&] { return mine.size(); });
        return result;
    });
    Shares<T> entries;
    for (Counted& share : counted) entries.push_back(std::move(share.entries));
    Cells<T> room;
    for_each_task(2, threads, [&](std::size_t task) {
        if (task == 0) {
            for (std::size_t p = 1; p < counted.size(); ++p) {
                const Vocabulary own = std::move(counted[p].own);
                renumber(entries[p], vocabulary.absorb(own.names(), own.size()));
            }
        } else {
            room = room_for(entries, weights);
        }
    });
    return cells_of(entries, vocabulary.size(), weights, threads, std::move(room));
}

namespace {

// Numbers the few words that texts use of a large vocabulary, as if it had no others.
template <class T, class I>
Cells<T> count_few(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads, std::size_t entries) {
    std::vector<I> used;
    std::copy_if(rows.number, rows.number + entries, std::back_inserter(used), [](I number) { return number >= 0; });
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<I> place(entries);
    std::transform(rows.number, rows.number + entries, place.begin(), [&](I number) {
        return number < 0 ? number : static_cast<I>(std::lower_bound(used.begin(), used.end(), number) - used.begin());
    });
    Cells<T> cells = count_rows<T>(CountedRows<I>{rows.starts, place.data(), rows.count, rows.weight, rows.rows},
                                   labels, weights, threads, used.size());
    for (std::int64_t& feature : cells.feature) feature = used[static_cast<std::size_t>(feature)];
    return cells;
}

}  // namespace

template <class T, class I>
Cells<T> count_rows(const CountedRows<I>& rows, const Labels& labels, bool weights, int threads,
                    std::size_t vocabulary) {
    const auto entries_in_all = static_cast<std::size_t>(rows.starts[rows.rows]);
    if (entries_in_all * 8 < vocabulary) return count_few<T>(rows, labels, weights, threads, entries_in_all);
    const std::vector<std::size_t> order = by_class(rows.rows, labels, [](std::size_t) { return false; });
    const auto work = [&](std::size_t i) {
        return 1 + static_cast<std::size_t>(rows.starts[order[i] + 1] - rows.starts[order[i]]);
    };
    // Each share allocates a sum per word of the vocabulary, so a share must be large beside it.
    const std::size_t enough = std::max(std::size_t{1} << 21, 8 * vocabulary);
    Parting parting(order.size(), threads, Ends::moving, work, enough);
    Shares<T> entries = in_shares(parting, threads, [&](Share& share) {
        Entries<T> result;
        Sums<T> sums(weights, result);
        in_classes(labels, order, share, sums, [&](std::size_t i, T times) {
            const auto from = static_cast<std::size_t>(rows.starts[i]),
                       to = static_cast<std::size_t>(rows.starts[i + 1]);
            sums.add(rows.number + from, rows.count + from, rows.weight ? rows.weight + from : nullptr, to - from,
                     times, vocabulary);
        });
        return result;
    });
    return cells_of(entries, vocabulary, weights, threads, room_for(entries, weights));
}

template <class T>
Cells<T> count_buckets(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       int threads, std::uint32_t buckets, BucketNames& names) {
    const std::vector<std::size_t> order = by_class(documents, labels);
    // the leading name of a bucket depends on the shares
    Parting parting = parted(documents, order, threads, Ends::fixed);
    using Counted = std::pair<NamedBuckets, Entries<T>>;
    std::vector<Counted> counted = in_shares(parting, threads, [&](Share& share) {
        NamedBuckets own(buckets);
        Entries<T> entries =
            count_share<T>(documents, labels, rules, weights, order, share, own, [&] { return own.size(); });
        return Counted(std::move(own), std::move(entries));
    });
    Shares<T> entries;
    for (auto& [own, share] : counted) {
        std::vector<std::uint32_t> moved(own.size());
        for (std::uint32_t n = 0; n < moved.size(); ++n) {
            moved[n] = own.bucket(n);
            if (own.lead(n) == 0) continue;
            names.bucket.push_back(moved[n]);
            names.name.emplace_back(own.name(n));
            names.lead.push_back(own.lead(n));
        }
        renumber(share, moved);
        entries.push_back(std::move(share));
    }
    return cells_of(entries, buckets, weights, threads, room_for(entries, weights));
}

template Cells<std::int64_t> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
template Cells<FixedPoint> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
#define NAIVELY_COUNT_ROWS(T, I) \
    template Cells<T> count_rows(const CountedRows<I>&, const Labels&, bool, int, std::size_t);
NAIVELY_COUNT_ROWS(std::int64_t, std::int32_t)
NAIVELY_COUNT_ROWS(std::int64_t, std::int64_t)
NAIVELY_COUNT_ROWS(FixedPoint, std::int32_t)
NAIVELY_COUNT_ROWS(FixedPoint, std::int64_t)
#undef NAIVELY_COUNT_ROWS

template Cells<std::int64_t> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                           BucketNames&);
template Cells<FixedPoint> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                         BucketNames&);

}  // namespace naively
