#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "pages.hpp"
#include "parallel.hpp"
#include "shares.hpp"
#include "text.hpp"
#include "uniques.hpp"

namespace naively {
namespace {

template <class T>
struct Sum {
    T occurrences = 0, documents = 0, weight = 0;
};

template <class T>
struct Entry {
    std::uint32_t number;
    std::int32_t klass;
    Sum<T> sum;
};

// 1 + log count; of small counts, which are most, from a table.
const std::array<double, 64> small_counts = [] {
    std::array<double, 64> table{};
    for (std::size_t i = 1; i < table.size(); ++i) table[i] = 1.0 + std::log(static_cast<double>(i));
    return table;
}();

NAIVELY_INLINE double sublinear(std::uint32_t count) {
    return count < small_counts.size() ? small_counts[count] : 1.0 + std::log(static_cast<double>(count));
}

// Sums of one class after another.
template <class T>
class Sums {
   public:
    Sums(bool weights, Large<Entry<T>>& entries) : weights_(weights), entries_(entries) {}

    void add(const std::vector<std::uint32_t>& numbers, T times, std::size_t vocabulary) {
        hold(vocabulary);
        once_.of(numbers, vocabulary);
        weigh(once_.size, [&](std::size_t i) { return once_.count[i]; });
        for (std::size_t i = 0; i < once_.size; ++i) {
            if (i + ahead < once_.size) NAIVELY_PREFETCH(&sums_[once_.number[i + ahead]]);
            add(once_.number[i], once_.count[i], times, weight_of(once_.count[i]));
        }
    }

    // A document whose words are counted. Those with a number below zero only make it longer. What each comes to is
    // found from the counts, unless it is known.
    template <class I>
    void add(const I* number, const std::int32_t* count, const double* known, std::size_t size, T times,
             std::size_t vocabulary) {
        hold(vocabulary);
        if (!known) weigh(size, [&](std::size_t i) { return static_cast<std::uint32_t>(count[i]); });
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t next = std::min(i + ahead, size - 1);
            if (number[next] >= 0) NAIVELY_PREFETCH(&sums_[static_cast<std::size_t>(number[next])]);
            if (number[i] < 0) continue;
            const auto many = static_cast<std::uint32_t>(count[i]);
            add(static_cast<std::uint32_t>(number[i]), many, times,
                known ? rounded(known[i] * weight_unit) : weight_of(many));
        }
    }

    // What the class comes to, in the order of the numbers.
    void finish(std::int32_t klass) {
        std::size_t size = entries_.size();
        for (const std::uint64_t bits : touched_) size += static_cast<std::size_t>(std::popcount(bits));
        if (size > entries_.capacity()) entries_.reserve(std::max(size, 2 * entries_.size()));
        for (std::size_t at = 0; at < touched_.size(); ++at) {
            for (std::uint64_t bits = touched_[at]; bits; bits &= bits - 1) {
                const auto number = static_cast<std::uint32_t>(64 * at + static_cast<unsigned>(std::countr_zero(bits)));
                entries_.push_back({number, klass, sums_[number]});
                sums_[number] = {};
            }
            touched_[at] = 0;
        }
    }

   private:
    void hold(std::size_t vocabulary) {
        if (sums_.size() < vocabulary) sums_.resize(vocabulary);
        if (touched_.size() * 64 < vocabulary) touched_.resize(vocabulary / 64 + 1, 0);
    }

    static T rounded(double value) { return static_cast<T>(static_cast<std::int64_t>(value + 0.5)); }

    NAIVELY_INLINE T weight_of(std::uint32_t count) const {
        return count < small_ ? weight_[count] : rounded(unit_ * sublinear(count));
    }

    NAIVELY_INLINE void add(std::uint32_t number, std::uint32_t count, T times, T weight) {
        Sum<T>& sum = sums_[number];
        if (sum.documents == T(0)) touched_[number / 64] |= std::uint64_t{1} << (number % 64);
        sum.occurrences += times * static_cast<T>(count);
        sum.documents += times;
        sum.weight += times * weight;
    }

    // What a word comes to by how often it is there, with the document brought to length one.
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

    static constexpr std::size_t ahead = 16;

    bool weights_;
    Large<Entry<T>>& entries_;
    Large<Sum<T>> sums_;
    std::vector<std::uint64_t> touched_;  // a bit for each number that the class has
    Gathered once_;
    static constexpr std::uint32_t small_ = 8;
    std::array<T, small_> weight_{};
    double unit_ = 0.0;
};

// Rows in the order of their classes, without those that add nothing.
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

// Adds rows of one class after another: add(sums, row, times).
template <class T, class Add>
void in_classes(const Labels& labels, const std::size_t* order, std::size_t many, Sums<T>& sums, Add add) {
    for (std::size_t i = 0; i < many; ++i) {
        const std::int32_t klass = labels.klass[order[i]];
        add(order[i], static_cast<T>(labels.weight_of(order[i])));
        if (i + 1 == many || labels.klass[order[i + 1]] != klass) sums.finish(klass);
    }
}

template <class T, class Numbering, class Size>
void count_share(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                 const std::size_t* order, std::size_t many, Numbering& numbering, Size size,
                 Large<Entry<T>>& entries) {
    TokenReader<Numbering> reader(rules, numbering);
    Sums<T> sums(weights, entries);
    std::vector<std::uint32_t> numbers;
    in_classes(labels, order, many, sums, [&](std::size_t i, T times) {
        numbers.clear();
        documents.read(i, reader, numbers);
        sums.add(numbers, times, size());
    });
}

// Entries in the order of their numbers; those of one number in the order they are in.
template <class T>
Large<const Entry<T>*> by_number(const std::vector<Large<Entry<T>>>& parts, std::size_t numbers) {
    std::size_t size = 0;
    for (const auto& part : parts) size += part.size();
    Large<const Entry<T>*> sorted;
    sorted.reserve(size);
    if (numbers > 8 * size) {
        for (const auto& part : parts)
            for (const Entry<T>& entry : part) sorted.push_back(&entry);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Entry<T>* a, const Entry<T>* b) { return a->number < b->number; });
        return sorted;
    }
    Large<std::size_t> next(numbers + 1, 0);
    for (const auto& part : parts)
        for (const Entry<T>& entry : part) ++next[entry.number + 1];
    for (std::size_t n = 0; n < numbers; ++n) next[n + 1] += next[n];
    sorted.resize(size);
    for (const auto& part : parts)
        for (const Entry<T>& entry : part) sorted[next[entry.number]++] = &entry;
    return sorted;
}

// Cells from the entries of all parts, whose classes follow each other. A cell that two parts have is their sum.
template <class T>
Cells<T> cells_of(const std::vector<Large<Entry<T>>>& parts, std::size_t numbers, bool weights) {
    constexpr std::size_t ahead = 16;
    const Large<const Entry<T>*> sorted = by_number(parts, numbers);
    const std::size_t size = sorted.size(), planes = weights ? 3 : 2;
    Cells<T> cells;
    cells.feature.resize(size);
    cells.klass.resize(size);
    cells.value.resize(planes * size);
    T* const value = cells.value.data();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (i + ahead < size) NAIVELY_PREFETCH(sorted[i + ahead]);
        const Entry<T>& entry = *sorted[i];
        const bool again = kept > 0 && cells.feature[kept - 1] == entry.number && cells.klass[kept - 1] == entry.klass;
        const std::size_t at = again ? kept - 1 : kept++;
        cells.feature[at] = entry.number;
        cells.klass[at] = entry.klass;
        value[at] += entry.sum.occurrences;
        value[size + at] += entry.sum.documents;
        if (weights) value[2 * size + at] += entry.sum.weight;
    }
    if (kept == size) return cells;
    for (std::size_t p = 1; p < planes; ++p) std::copy(value + p * size, value + p * size + kept, value + p * kept);
    cells.feature.resize(kept);
    cells.klass.resize(kept);
    cells.value.resize(planes * kept);
    return cells;
}

template <class T>
void renumber(Large<Entry<T>>& entries, const std::vector<std::uint32_t>& moved) {
    for (Entry<T>& entry : entries) entry.number = moved[entry.number];
}

std::vector<std::size_t> class_shares(const Documents& documents, const std::vector<std::size_t>& order, int threads) {
    const auto work = [&](std::size_t i) { return documents.work(order[i]); };
    return shares(order.size(), static_cast<std::size_t>(std::max(threads, 1)), work);
}

}  // namespace

template <class T>
Cells<T> count_texts(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                     int threads, Vocabulary& vocabulary) {
    const std::vector<std::size_t> order = by_class(documents, labels),
                                   starts = class_shares(documents, order, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<Vocabulary> own(parts - 1, Vocabulary(vocabulary.seed()));
    std::vector<Large<Entry<T>>> entries(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Vocabulary& mine = p == 0 ? vocabulary : own[p - 1];
        Growing numbering(mine);
        count_share(
            documents, labels, rules, weights, order.data() + starts[p], starts[p + 1] - starts[p], numbering,
            [&] { return mine.size(); }, entries[p]);
    });
    for (std::size_t p = 1; p < parts; ++p) renumber(entries[p], vocabulary.absorb(own[p - 1], own[p - 1].size()));
    return cells_of(entries, vocabulary.size(), weights);
}

namespace {

// Few words of a large vocabulary, numbered as if there were no others.
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
    const std::vector<std::size_t> starts = shares(
        order.size(), static_cast<std::size_t>(std::max(threads, 1)),
        [&](std::size_t i) { return 1 + static_cast<std::size_t>(rows.starts[order[i] + 1] - rows.starts[order[i]]); });
    const std::size_t parts = starts.size() - 1;
    std::vector<Large<Entry<T>>> entries(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Sums<T> sums(weights, entries[p]);
        in_classes(labels, order.data() + starts[p], starts[p + 1] - starts[p], sums, [&](std::size_t i, T times) {
            const auto from = static_cast<std::size_t>(rows.starts[i]),
                       to = static_cast<std::size_t>(rows.starts[i + 1]);
            sums.add(rows.number + from, rows.count + from, rows.weight ? rows.weight + from : nullptr, to - from,
                     times, vocabulary);
        });
    });
    return cells_of(entries, vocabulary, weights);
}

template <class T>
Cells<T> count_buckets(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       int threads, std::uint32_t buckets, BucketNames& names) {
    const std::vector<std::size_t> order = by_class(documents, labels),
                                   starts = class_shares(documents, order, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<NamedBuckets> own(parts, NamedBuckets(buckets));
    std::vector<Large<Entry<T>>> entries(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        count_share(
            documents, labels, rules, weights, order.data() + starts[p], starts[p + 1] - starts[p], own[p],
            [&] { return own[p].size(); }, entries[p]);
    });
    for (std::size_t p = 0; p < parts; ++p) {
        std::vector<std::uint32_t> moved(own[p].size());
        for (std::uint32_t n = 0; n < moved.size(); ++n) {
            moved[n] = own[p].bucket(n);
            if (own[p].lead(n) == 0) continue;
            names.bucket.push_back(moved[n]);
            names.name.emplace_back(own[p].name(n));
            names.lead.push_back(own[p].lead(n));
        }
        renumber(entries[p], moved);
    }
    return cells_of(entries, buckets, weights);
}

template Cells<std::int64_t> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
template Cells<double> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
#define NAIVELY_COUNT_ROWS(T, I) \
    template Cells<T> count_rows(const CountedRows<I>&, const Labels&, bool, int, std::size_t);
NAIVELY_COUNT_ROWS(std::int64_t, std::int32_t)
NAIVELY_COUNT_ROWS(std::int64_t, std::int64_t)
NAIVELY_COUNT_ROWS(double, std::int32_t)
NAIVELY_COUNT_ROWS(double, std::int64_t)
#undef NAIVELY_COUNT_ROWS

template Cells<std::int64_t> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                           BucketNames&);
template Cells<double> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                     BucketNames&);

}  // namespace naively
