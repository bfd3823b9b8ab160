#include <array>
#include <cmath>
#include <utility>

#include "parallel.hpp"
#include "text.hpp"
#include "text_parts.hpp"

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

// Sums of one class after another. What is needed of a number lies side by side.
template <class T>
class Sums {
   public:
    Sums(bool weights, std::vector<Entry<T>>& entries) : weights_(weights), entries_(entries) {}

    void add(const std::vector<std::uint32_t>& numbers, T times, std::size_t vocabulary) {
        hold(places_, vocabulary);
        if (++document_ == 0) forget_documents();
        once_.by_place(numbers, document_, [&](std::uint32_t n) -> Seen& { return places_[n].seen; });
        const double unit = weights_ ? weight_unit / std::sqrt(squares()) : 0.0;
        const T single = rounded(unit);
        for (std::size_t i = 0; i < once_.number.size(); ++i) {
            Sum<T>& sum = places_[once_.number[i]].sum;
            const std::uint32_t count = once_.count[i];
            if (sum.documents == T(0)) touched_.push_back(once_.number[i]);
            sum.occurrences += times * static_cast<T>(count);
            sum.documents += times;
            sum.weight += times * (count == 1 ? single : rounded(unit * sublinear(count)));
        }
    }

    void finish(std::int32_t klass) {
        for (const std::uint32_t number : touched_) {
            entries_.push_back({number, klass, places_[number].sum});
            places_[number].sum = {};
        }
        touched_.clear();
    }

   private:
    struct Place {
        Sum<T> sum;
        Seen seen;
    };

    static T rounded(double value) { return static_cast<T>(static_cast<std::int64_t>(value + 0.5)); }

    double squares() const {
        double sum = 0.0;
        for (const std::uint32_t count : once_.count) {
            const double weight = sublinear(count);
            sum += weight * weight;
        }
        return sum;
    }

    void forget_documents() {
        for (Place& place : places_) place.seen = {};
        document_ = 1;
    }

    bool weights_;
    std::vector<Entry<T>>& entries_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> touched_;
    Uniques once_;
    std::uint32_t document_ = 0;
};

// Documents in the order of their classes, without those that add nothing.
std::vector<std::size_t> by_class(const Documents& documents, const Labels& labels) {
    std::vector<std::size_t> next(labels.classes + 1, 0);
    const auto counts = [&](std::size_t i) { return !documents.is_missing(i) && labels.weight_of(i) != 0.0; };
    for (std::size_t i = 0; i < documents.size(); ++i)
        if (counts(i)) ++next[static_cast<std::size_t>(labels.klass[i]) + 1];
    for (std::size_t c = 0; c < labels.classes; ++c) next[c + 1] += next[c];
    std::vector<std::size_t> order(next[labels.classes]);
    for (std::size_t i = 0; i < documents.size(); ++i)
        if (counts(i)) order[next[static_cast<std::size_t>(labels.klass[i])]++] = i;
    return order;
}

template <class T, class Numbering, class Size>
void count_share(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                 const std::size_t* order, std::size_t many, Numbering& numbering, Size size,
                 std::vector<Entry<T>>& entries) {
    TokenReader<Numbering> reader(rules, numbering);
    Sums<T> sums(weights, entries);
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < many; ++i) {
        const std::int32_t klass = labels.klass[order[i]];
        numbers.clear();
        documents.read(order[i], reader, numbers);
        sums.add(numbers, static_cast<T>(labels.weight_of(order[i])), size());
        if (i + 1 == many || labels.klass[order[i + 1]] != klass) sums.finish(klass);
    }
}

// Cells from the entries of all parts, whose classes follow each other: stable by number.
template <class T>
Cells<T> cells_of(const std::vector<std::vector<Entry<T>>>& parts, std::size_t numbers, bool weights) {
    std::size_t size = 0;
    for (const auto& part : parts) size += part.size();
    std::vector<const Entry<T>*> sorted(size);
    if (numbers > 8 * size) {
        std::size_t at = 0;
        for (const auto& part : parts)
            for (const Entry<T>& entry : part) sorted[at++] = &entry;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Entry<T>* a, const Entry<T>* b) { return a->number < b->number; });
    } else {
        std::vector<std::size_t> next(numbers + 1, 0);
        for (const auto& part : parts)
            for (const Entry<T>& entry : part) ++next[entry.number + 1];
        for (std::size_t n = 0; n < numbers; ++n) next[n + 1] += next[n];
        for (const auto& part : parts)
            for (const Entry<T>& entry : part) sorted[next[entry.number]++] = &entry;
    }
    Cells<T> cells;
    cells.feature.reserve(size);
    cells.klass.reserve(size);
    std::vector<T> planes[3];
    for (auto& plane : planes) plane.reserve(size);
    for (std::size_t i = 0; i < size;) {
        Sum<T> sum;
        const Entry<T>& first = *sorted[i];
        for (; i < size && sorted[i]->number == first.number && sorted[i]->klass == first.klass; ++i) {
            sum.occurrences += sorted[i]->sum.occurrences;
            sum.documents += sorted[i]->sum.documents;
            sum.weight += sorted[i]->sum.weight;
        }
        cells.feature.push_back(first.number);
        cells.klass.push_back(first.klass);
        planes[0].push_back(sum.occurrences);
        planes[1].push_back(sum.documents);
        if (weights) planes[2].push_back(sum.weight);
    }
    cells.value = std::move(planes[0]);
    for (const auto* more : {&planes[1], &planes[2]}) cells.value.insert(cells.value.end(), more->begin(), more->end());
    return cells;
}

template <class T>
void renumber(std::vector<Entry<T>>& entries, const std::vector<std::uint32_t>& moved) {
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
    std::vector<std::vector<Entry<T>>> entries(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        Vocabulary& mine = p == 0 ? vocabulary : own[p - 1];
        Growing numbering{mine};
        count_share(
            documents, labels, rules, weights, order.data() + starts[p], starts[p + 1] - starts[p], numbering,
            [&] { return mine.size(); }, entries[p]);
    });
    for (std::size_t p = 1; p < parts; ++p) renumber(entries[p], vocabulary.absorb(own[p - 1], own[p - 1].size()));
    return cells_of(entries, vocabulary.size(), weights);
}

template <class T>
Cells<T> count_buckets(const Documents& documents, const Labels& labels, const TokenRules& rules, bool weights,
                       int threads, std::uint32_t buckets, BucketNames& names) {
    const std::vector<std::size_t> order = by_class(documents, labels),
                                   starts = class_shares(documents, order, threads);
    const std::size_t parts = starts.size() - 1;
    std::vector<NamedBuckets> own(parts, NamedBuckets(buckets));
    std::vector<std::vector<Entry<T>>> entries(parts);
    for_each_task(parts, threads, [&](std::size_t p) {
        count_share(
            documents, labels, rules, weights, order.data() + starts[p], starts[p + 1] - starts[p], own[p],
            [&] { return own[p].size(); }, entries[p]);
    });
    for (std::size_t p = 0; p < parts; ++p) {
        std::vector<std::uint32_t> moved(own[p].size());
        for (std::uint32_t n = 0; n < moved.size(); ++n) {
            moved[n] = own[p].bucket(n);
            if (own[p].name(n).empty()) continue;
            names.bucket.push_back(moved[n]);
            names.name.emplace_back(own[p].name(n));
        }
        renumber(entries[p], moved);
    }
    return cells_of(entries, buckets, weights);
}

template Cells<std::int64_t> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
template Cells<double> count_texts(const Documents&, const Labels&, const TokenRules&, bool, int, Vocabulary&);
template Cells<std::int64_t> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                           BucketNames&);
template Cells<double> count_buckets(const Documents&, const Labels&, const TokenRules&, bool, int, std::uint32_t,
                                     BucketNames&);

}  // namespace naively
