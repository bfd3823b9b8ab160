#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "exact_sums.hpp"
#include "hash.hpp"
#include "parallel.hpp"
#include "values.hpp"

namespace naively {
namespace {

constexpr std::size_t run = 512;  // rows that are counted together

// Numbers keys from 0 on as they come. The hash has a secret of the process, so that nobody can choose keys that are
// slow.
class Keys {
   public:
    Keys() { clear(); }

    NAIVELY_INLINE std::uint32_t number_of(std::uint64_t key) {
        std::size_t at = place_of(key);
        while (slots_[at].number != 0 && slots_[at].key != key) at = (at + 1) & mask_;
        return slots_[at].number != 0 ? slots_[at].number - 1 : insert(key, at);
    }

    std::size_t size() const { return keys_.size(); }
    const std::vector<std::uint64_t>& all() const { return keys_; }

    void clear() {
        keys_.clear();
        make_room(32);
    }

   private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t number = 0;  // and one; 0 where the slot is empty
    };

    NAIVELY_INLINE std::size_t place_of(std::uint64_t key) const {
        return static_cast<std::size_t>(hash_number(key, process_seed)) & mask_;
    }

    std::uint32_t insert(std::uint64_t key, std::size_t at) {
        keys_.push_back(key);
        const auto number = static_cast<std::uint32_t>(keys_.size());
        slots_[at] = {key, number};
        if (2 * keys_.size() > slots_.size()) make_room(2 * slots_.size());
        return number - 1;
    }

    void make_room(std::size_t slots) {
        slots_.assign(slots, Slot{});
        mask_ = slots - 1;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            std::size_t at = place_of(keys_[i]);
            while (slots_[at].number != 0) at = (at + 1) & mask_;
            slots_[at] = {keys_[i], static_cast<std::uint32_t>(i + 1)};
        }
    }

    std::vector<Slot> slots_;
    std::vector<std::uint64_t> keys_;
    std::size_t mask_ = 0;
};

// What rows weigh: one each, whole numbers, or amounts. All rows together weigh less than 2^63.
struct One {};
using Whole = std::int64_t;

bool zero(One) { return false; }
bool zero(Whole sum) { return sum == 0; }
bool zero(const Amount& sum) { return sum.zero(); }
NAIVELY_INLINE void increase(Whole& sum, One) { ++sum; }
NAIVELY_INLINE void increase(Whole& sum, Whole weight) { sum += weight; }
void increase(Whole& sum, const Amount& amount) { sum += amount.whole; }
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

// Counts one column, and moves it to a coarser level when there are too many ticks or cells.
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
          level_(level) {}

    void add(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !fault; i += run) {
            add_run(i, std::min(run, end - i));
            if (level_ > 0 && too_many()) load(result());
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
        const std::int32_t* klass = klass_ + begin;
        for (std::size_t i = 0; i < n; ++i) {
            if (zero(weight_[begin + i])) continue;
            if (tick[i] != last_) number_ = ticks_.number_of(last_ = tick[i]);
            at[i] = std::uint64_t{number_} << 32 | static_cast<std::uint32_t>(klass[i]);
        }
        if (dense_ && ticks_.size() * classes_ > most_dense_) leave_table();
        if (dense_)
            add_to_table(begin, n, at);
        else
            for (std::size_t i = 0; i < n; ++i)
                if (!zero(weight_[begin + i])) increase(sum_at(at[i]), weight_[begin + i]);
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

    // True if there are certainly more than fit; missing values are among them.
    bool too_many() const {
        if (level_ > grid_level) return ticks_.size() > most_ticks + 1;
        return !dense_ && pairs_.size() > most_value_cells + classes_;
    }

    // From a sum for each tick and class to one for each pair that was seen.
    void leave_table() {
        const std::vector<Sum> table = std::move(sums_);
        sums_.clear();
        dense_ = false;
        for (std::size_t at = 0; at < table.size(); ++at)
            if (!zero(table[at])) sum_at(std::uint64_t{at / classes_} << 32 | at % classes_) = table[at];
    }

    void load(const ValueColumn& column) {
        level_ = column.level;
        last_ = no_last;
        for (Keys* keys : {&ticks_, &pairs_}) keys->clear();
        for (const ValueCell& cell : column.cells) ticks_.number_of(cell.tick);
        dense_ = ticks_.size() * classes_ <= most_dense_;
        sums_.assign(dense_ ? ticks_.size() * classes_ : 0, Sum{});
        for (const ValueCell& cell : column.cells) {
            const std::uint64_t number = ticks_.number_of(cell.tick);
            increase(sum_at(number << 32 | static_cast<std::uint32_t>(cell.klass)), cell.amount);
        }
    }

    void list_table(std::vector<ValueCell>& cells) const {
        const std::vector<std::uint64_t>& ticks = ticks_.all();
        std::vector<std::uint32_t> order(ticks.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return ticks[a] < ticks[b]; });
        for (const std::uint32_t number : order)
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

    static constexpr std::uint64_t no_last = no_tick - 1;  // which is of no finite number

    const NumberColumn& column_;
    const std::int32_t* klass_;
    Weights<Weight> weight_;
    std::size_t classes_, most_dense_;
    int level_;
    bool dense_ = true;
    Keys ticks_, pairs_;
    std::vector<Sum> sums_;  // of each tick's classes; or of each pair of a tick's number and a class
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

// True if all weights are whole numbers. Raises where their sum may not fit into 64 bits.
bool are_whole(const double* weight, std::size_t rows) {
    constexpr double most = 9.2e18;  // so far below 2^63 that what is rounded does not matter
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

// Every column is counted in a few shares of the rows, which are added up.
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
