#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "columns/ticks.hpp"
#include "columns/values.hpp"
#include "count/exact_sums.hpp"

namespace naively {
namespace {

constexpr std::size_t run = 512;  // rows counted together

// The weights of rows: one each, whole numbers, or amounts. All rows together weigh less than 2^63.
struct One {};
using Whole = std::int64_t;

bool zero(One) { return false; }
bool zero(Whole sum) { return sum == 0; }
bool zero(const Amount& sum) { return sum.zero(); }
NAIVELY_INLINE void increase(Whole& sum, One) { ++sum; }
NAIVELY_INLINE void increase(Whole& sum, Whole weight) { sum += weight; }
NAIVELY_INLINE void increase(Amount& sum, const Amount& amount) {
    sum.fraction += amount.fraction;
    sum.whole += amount.whole + (sum.fraction < amount.fraction);
}
Amount amount_of(Whole sum) { return {sum, 0}; }
Amount amount_of(const Amount& sum) { return sum; }

// The weight of each row.
template <class Weight>
struct Weights {
    const Weight* weight;
    const Weight& operator[](std::size_t i) const { return weight[i]; }
};

template <>
struct Weights<One> {
    One operator[](std::size_t) const { return {}; }
};

// Counts one column, and moves it to a coarser level when it has too many ticks or cells.
template <class Weight>
class Counter {
    using Sum = std::conditional_t<std::is_same_v<Weight, Amount>, Amount, Whole>;

   public:
    Fault fault;

    Counter(const NumberColumn& column, const Labels& labels, Weights<Weight> weight, std::size_t rows, int level)
        : column_(column),
          klass_(labels.klass),
          weight_(weight),
          classes_(labels.classes),
          most_dense_(std::clamp<std::size_t>(4 * rows, 1024, most_value_cells)),
          level_(level),
          ticks_(level, rows) {}

    void add(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !fault; i += run) {
            add_run(i, std::min(run, end - i));
            while (level_ > 0 && too_many()) coarsen();
        }
    }

    ValueColumn result() const {
        ValueColumn column{level_, {}};
        if (dense_)
            list_table(column.cells);
        else
            list_pairs(column.cells);
        fit(column);
        return column;
    }

   private:
    void add_run(std::size_t begin, std::size_t n) {
        double x[run];
        std::uint64_t tick[run], at[run];
        column_.copy(column_.values, begin, begin + n, x, 1);
        bool infinite = false;
        for (std::size_t i = 0; i < n; ++i) {
            infinite |= std::fabs(x[i]) > std::numeric_limits<double>::max();
            const std::uint64_t own = tick_of(x[i], level_);
            tick[i] = is_missing(x[i]) ? no_tick : own;
        }
        if (infinite) return refuse(x, begin);
        if (ticks_.paged())
            number<true>(tick, begin, n, at);
        else
            number<false>(tick, begin, n, at);
        if (dense_ && ticks_.size() * classes_ > most_dense_) leave_table();
        if (dense_)
            add_to_table(begin, n, at);
        else
            for (std::size_t i = 0; i < n; ++i)
                if (!zero(weight_[begin + i])) increase(sum_at(at[i]), weight_[begin + i]);
    }

    // The key of a (tick number, class) pair.
    template <bool paged>
    void number(const std::uint64_t* tick, std::size_t begin, std::size_t n, std::uint64_t* pair) {
        const std::int32_t* klass = klass_ + begin;
        for (std::size_t i = 0; i < n; ++i) {
            if (zero(weight_[begin + i])) continue;
            if (tick[i] != last_) number_ = ticks_.template number_of<paged>(last_ = tick[i]);
            pair[i] = std::uint64_t{number_} << 32 | static_cast<std::uint32_t>(klass[i]);
        }
    }

    void add_to_table(std::size_t begin, std::size_t n, const std::uint64_t* at) {
        const std::size_t classes = classes_;
        if (ticks_.size() * classes > sums_.size())
            sums_.resize(std::max(ticks_.size() * classes, std::min(2 * sums_.size(), most_dense_)), Sum{});
        Sum* sums = sums_.data();
        const Weights<Weight> weight = weight_;
        for (std::size_t i = 0; i < n; ++i)
            if (!zero(weight[begin + i]))
                increase(sums[(at[i] >> 32) * classes + (at[i] & 0xffffffffu)], weight[begin + i]);
    }

    // The sum of a tick's number and a class.
    NAIVELY_INLINE Sum& sum_at(std::uint64_t pair) {
        if (dense_) return sums_[(pair >> 32) * classes_ + (pair & 0xffffffffu)];
        const std::uint32_t number = pairs_.number_of(pair);
        if (number == sums_.size()) sums_.emplace_back();
        return sums_[number];
    }

    void refuse(const double* x, std::size_t begin) {
        std::size_t i = 0;
        while (!std::isinf(x[i])) ++i;
        fault = {FaultKind::infinite, static_cast<std::int64_t>(begin + i), 0};
    }

    // True if there are certainly more ticks than fit; missing values are among them.
    bool too_many() const {
        if (level_ > grid_level) return ticks_.size() > most_ticks + 1;
        return !dense_ && pairs_.size() > most_value_cells + classes_;
    }

    // Change from a sum per tick and class to a sum per pair that was seen.
    void leave_table() {
        const std::vector<Sum> table = std::move(sums_);
        sums_.clear();
        dense_ = false;
        for (std::size_t at = 0; at < table.size(); ++at)
            if (!zero(table[at])) sum_at(std::uint64_t{at / classes_} << 32 | at % classes_) = table[at];
    }

    // Move to the next level: add up the sums of ticks that become one.
    void coarsen() {
        const int level = next_level(level_), shift = level_ - level;
        const std::vector<std::uint64_t> fine = ticks_.all(), pairs = pairs_.all();
        const std::vector<Sum> sums = std::move(sums_);
        level_ = level;
        last_ = no_last;
        ticks_.clear(level);
        pairs_.clear();
        std::vector<std::uint64_t> number;
        number.reserve(fine.size());
        for (const std::uint64_t tick : fine)
            number.push_back(ticks_.number_of(tick == no_tick ? tick : tick >> shift));
        const bool was_dense = dense_;
        dense_ = ticks_.size() * classes_ <= most_dense_;
        sums_.assign(dense_ ? ticks_.size() * classes_ : 0, Sum{});
        for (std::size_t i = 0; i < sums.size(); ++i) {
            if (zero(sums[i])) continue;
            const std::uint64_t pair = was_dense ? std::uint64_t{i / classes_} << 32 | i % classes_ : pairs[i];
            increase(sum_at(number[pair >> 32] << 32 | (pair & 0xffffffffu)), sums[i]);
        }
    }

    void list_table(std::vector<ValueCell>& cells) const {
        const std::vector<std::uint64_t>& ticks = ticks_.all();
        for (const std::uint32_t number : ticks_.order())
            for (std::size_t k = 0; k < classes_; ++k)
                if (const Sum& sum = sums_[number * classes_ + k]; !zero(sum))
                    cells.push_back({ticks[number], static_cast<std::int32_t>(k), amount_of(sum)});
    }

    void list_pairs(std::vector<ValueCell>& cells) const {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const std::uint64_t pair = pairs_.all()[i];
            cells.push_back({ticks_.all()[pair >> 32], static_cast<std::int32_t>(pair), amount_of(sums_[i])});
        }
        std::sort(cells.begin(), cells.end(), comes_before);
    }

    static constexpr std::uint64_t no_last = no_tick - 1;  // no finite number has this tick

    const NumberColumn& column_;
    const std::int32_t* klass_;
    Weights<Weight> weight_;
    std::size_t classes_, most_dense_;
    int level_;
    bool dense_ = true;
    Ticks ticks_;
    Keys pairs_;
    std::vector<Sum> sums_;  // by tick and class; or by pair of tick number and class
    std::uint64_t last_ = no_last;
    std::uint32_t number_ = 0;
};

// The first weight that cannot be counted.
Fault unfit_weight(const double* weight, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
        if (!(weight[i] >= 0.0)) return {FaultKind::out_of_range, static_cast<std::int64_t>(i), -1};
        if (weight[i] > largest_weight) return {FaultKind::too_large, static_cast<std::int64_t>(i), -1};
    }
    return {};
}

// True if all weights are whole numbers. Raises if their sum may not fit into 64 bits.
bool are_whole(const double* weight, std::size_t rows) {
    constexpr double most = 9.2e18;  // so far below 2^63 that rounding does not matter
    double sum = 0.0;
    bool whole = true;
    for (std::size_t i = 0; i < rows; ++i) {
        sum += weight[i];
        whole &= weight[i] == std::floor(weight[i]);
    }
    if (sum > most) throw std::overflow_error(beyond_64_bits);
    return whole;
}

Amount counted_amount(double weight) {
    const double counted = counted_weight(weight), whole = std::floor(counted);
    return {static_cast<std::int64_t>(whole), static_cast<std::uint64_t>((counted - whole) * 18446744073709551616.0)};
}

// Count every column in a few shares of the rows, and add these up.
template <class Weight>
ValueCount count_shares(const std::vector<NumberColumn>& columns, std::size_t rows, const Labels& labels,
                        Weights<Weight> weight, const std::int8_t* level, int threads) {
    const std::size_t width = columns.size(), wanted = static_cast<std::size_t>(std::max(threads, 1));
    const std::size_t shares = width == 0 || width >= wanted ? 1 : std::clamp<std::size_t>(rows >> 16, 1, wanted);
    std::vector<ValueColumn> counted(width * shares);
    std::vector<Fault> faults(counted.size());
    for_each_task(counted.size(), worth_threads(threads, rows * width), [&](std::size_t at) {
        const std::size_t j = at / shares, s = at % shares;
        Counter<Weight> counter(columns[j], labels, weight, rows, level[j]);
        counter.add(rows * s / shares, rows * (s + 1) / shares);
        counted[at] = counter.result();
        faults[at] = counter.fault;
        faults[at].column = static_cast<std::int64_t>(j);
    });
    ValueCount count;
    for (const Fault& fault : faults) count.fault.keep_first(fault);
    if (count.fault) return count;
    for (std::size_t j = 0; j < width; ++j) {
        ValueColumn column = std::move(counted[j * shares]);
        for (std::size_t s = 1; s < shares; ++s) add(column, std::move(counted[j * shares + s]));
        count.values.push(column);
    }
    return count;
}

}  // namespace

ValueCount count_values(const std::vector<NumberColumn>& columns, std::size_t rows, const Labels& labels,
                        const std::int8_t* level, int threads) {
    if (!labels.weight) return count_shares<One>(columns, rows, labels, {}, level, threads);
    const double *first = labels.weight, *last = first + rows;
    if (const Fault fault = unfit_weight(first, rows)) return {{}, fault};
    if (are_whole(first, rows)) {
        std::vector<Whole> weight(rows);
        std::transform(first, last, weight.begin(), [](double w) { return static_cast<Whole>(w); });
        return count_shares<Whole>(columns, rows, labels, {weight.data()}, level, threads);
    }
    std::vector<Amount> weight(rows);
    std::transform(first, last, weight.begin(), counted_amount);
    return count_shares<Amount>(columns, rows, labels, {weight.data()}, level, threads);
}

}  // namespace naively
