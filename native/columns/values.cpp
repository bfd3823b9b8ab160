#include "columns/values.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "base/fixed_sums.hpp"

namespace naively {
namespace {

using Cell = ValueCell;
using ColumnCells = std::vector<ValueCell>;

bool small_enough(const ValueColumn& column) {
    const std::size_t most = column.level > grid_level ? most_ticks : most_value_cells;
    if (column.level == 0 || column.cells.size() <= most) return true;
    std::size_t cells = 0, ticks = 0;
    for (const Cell& cell : column.cells) {
        if (cell.tick == no_tick) break;
        ticks += cells == 0 || cell.tick != column.cells[cells - 1].tick;
        ++cells;
    }
    return (column.level > grid_level ? ticks : cells) <= most;
}

// Extract the cells of one column.
ValueColumn column_of(const ValuesView& values, std::size_t j, std::size_t& at) {
    ValueColumn column{values.level[j], {}};
    const std::size_t begin = at;
    while (at < values.cells && values.feature[at] >> 32 == static_cast<std::int64_t>(j)) ++at;
    column.cells.reserve(at - begin);
    for (std::size_t i = begin; i < at; ++i) {
        const std::int64_t index = values.feature[i] & missing_index;
        const std::uint64_t tick = index == missing_index ? no_tick : values.tick[values.bounds[j] + index];
        column.cells.push_back({tick, values.klass[i], {values.whole[i], values.fraction ? values.fraction[i] : 0}});
    }
    return column;
}

// Add or subtract at the coarser of two levels.
void combine(ValueColumn& to, ValueColumn& other, bool subtract, TooMuch& too_much) {
    coarsen(to, other.level);
    coarsen(other, to.level);
    ColumnCells sum;
    sum.reserve(to.cells.size() + other.cells.size());
    auto mine = to.cells.begin();
    for (const Cell& theirs : other.cells) {
        while (mine != to.cells.end() && comes_before(*mine, theirs)) sum.push_back(*mine++);
        Cell cell{theirs.tick, theirs.klass, {}};
        if (mine != to.cells.end() && !comes_before(theirs, *mine)) cell = *mine++;
        if (!subtract) {
            cell.amount.add(theirs.amount);
        } else if (!cell.amount.take(theirs.amount)) {
            too_much = {true, 0, to.level, theirs};
            return;
        }
        if (!cell.amount.zero()) sum.push_back(cell);
    }
    sum.insert(sum.end(), mine, to.cells.end());
    to.cells = std::move(sum);
    fit(to);
}

constexpr double largest = std::numeric_limits<double>::max();

bool finite_tick(std::uint64_t tick, int level) {
    return tick >= tick_of(-largest, level) && tick <= tick_of(largest, level);
}

// A whole number times 2^exponent.
Parts parts_of(Digit whole, int exponent) {
    Parts parts(0.0);
    parts.whole = whole;
    parts.exponent = exponent;
    return parts;
}

struct ValueSums {
    FixedSums n, x, squares;

    ValueSums(std::size_t classes, std::size_t columns) : n(classes, columns), x(n), squares(n) {}

    // Add a value of a column as often as `times` says.
    void add(std::size_t klass, std::size_t column, const Parts& value, const Parts& times) {
        if (times.whole == 0) return;
        n.add(klass, column, term_of(times));
        if (value.whole == 0) return;
        x.add(klass, column, term_of(times, value));
        squares.add(klass, column, term_of(times, value, value));
    }
};

}  // namespace

void coarsen(ValueColumn& column, int level) {
    if (level >= column.level) return;
    const int shift = column.level - level;
    ColumnCells joined;
    for (auto at = column.cells.begin(); at != column.cells.end();) {
        const std::uint64_t tick = at->tick == no_tick ? no_tick : at->tick >> shift;
        const auto begin = at;
        for (; at != column.cells.end() && (at->tick == no_tick ? no_tick : at->tick >> shift) == tick; ++at)
            at->tick = tick;
        std::sort(begin, at, [](const Cell& a, const Cell& b) { return a.klass < b.klass; });
        for (auto cell = begin; cell != at; ++cell) {
            if (cell != begin && cell->klass == joined.back().klass)
                joined.back().amount.add(cell->amount);
            else
                joined.push_back(*cell);
        }
    }
    column.cells = std::move(joined);
    column.level = level;
}

void fit(ValueColumn& column) {
    while (!small_enough(column)) coarsen(column, next_level(column.level));
}

void add(ValueColumn& to, ValueColumn other) {
    TooMuch never;
    combine(to, other, false, never);
}

void Values::reserve(std::size_t ticks, std::size_t cells) {
    tick.reserve(ticks);
    feature.reserve(cells);
    klass.reserve(cells);
    whole.reserve(cells);
}

void Values::push(const ValueColumn& column) {
    const auto j = static_cast<std::int64_t>(level.size());
    level.push_back(static_cast<std::int8_t>(column.level));
    for (const Cell& cell : column.cells) {
        if (cell.tick != no_tick &&
            (tick.size() == static_cast<std::size_t>(bounds.back()) || tick.back() != cell.tick))
            tick.push_back(cell.tick);
        const auto last = static_cast<std::int64_t>(tick.size()) - 1 - bounds.back();
        feature.push_back(j << 32 | (cell.tick == no_tick ? missing_index : last));
        klass.push_back(cell.klass);
        if (cell.amount.fraction != 0 && fraction.empty()) fraction.resize(whole.size(), 0);
        if (cell.amount.fraction != 0 || !fraction.empty()) fraction.push_back(cell.amount.fraction);
        whole.push_back(cell.amount.whole);
    }
    bounds.push_back(static_cast<std::int64_t>(tick.size()));
}

bool sound(const ValuesView& values) {
    if (values.bounds[0] != 0 || values.bounds[values.columns] != static_cast<std::int64_t>(values.ticks)) return false;
    for (std::size_t j = 0; j < values.columns; ++j) {
        if (!is_level(values.level[j]) || values.bounds[j] > values.bounds[j + 1]) return false;
        if (values.bounds[j + 1] - values.bounds[j] > missing_index) return false;
    }
    for (std::size_t j = 0; j < values.columns; ++j)
        for (std::int64_t t = values.bounds[j] + 1; t < values.bounds[j + 1]; ++t)
            if (values.tick[t - 1] >= values.tick[t]) return false;
    for (std::size_t i = 0; i < values.cells; ++i) {
        const std::int64_t feature = values.feature[i], index = feature & missing_index;
        if (feature < 0 || feature >> 32 >= static_cast<std::int64_t>(values.columns) || values.klass[i] < 0 ||
            values.whole[i] < 0)
            return false;
        const std::size_t j = static_cast<std::size_t>(feature >> 32);
        if (index != missing_index && index >= values.bounds[j + 1] - values.bounds[j]) return false;
        if (i > 0 && std::tie(values.feature[i - 1], values.klass[i - 1]) >= std::tie(feature, values.klass[i]))
            return false;
    }
    return true;
}

bool well_formed(const ValuesView& values, std::size_t classes) {
    if (!sound(values)) return false;
    std::vector<bool> used(values.ticks, false);
    for (std::size_t i = 0; i < values.cells; ++i) {
        const std::int64_t index = values.feature[i] & missing_index;
        if (index != missing_index)
            used[static_cast<std::size_t>(values.bounds[values.feature[i] >> 32] + index)] = true;
        const Amount amount{values.whole[i], values.fraction ? values.fraction[i] : 0};
        if (static_cast<std::size_t>(values.klass[i]) >= classes || amount.zero()) return false;
    }
    for (std::size_t j = 0; j < values.columns; ++j)
        for (std::int64_t t = values.bounds[j]; t < values.bounds[j + 1]; ++t)
            if (!used[static_cast<std::size_t>(t)] || !finite_tick(values.tick[t], values.level[j])) return false;
    return true;
}

Values added(const ValuesView& left, const ValuesView& right, bool subtract, TooMuch& too_much) {
    if (left.columns != right.columns) throw std::invalid_argument("counts of values differ in their columns");
    Values result;
    result.reserve(left.ticks + right.ticks, left.cells + right.cells);
    std::size_t at_left = 0, at_right = 0;
    for (std::size_t j = 0; j < left.columns; ++j) {
        ValueColumn sum = column_of(left, j, at_left), other = column_of(right, j, at_right);
        combine(sum, other, subtract, too_much);
        if (too_much.found) {
            too_much.column = j;
            return result;
        }
        result.push(sum);
    }
    return result;
}

Values coarser(const ValuesView& values, const std::int8_t* level) {
    Values result;
    std::size_t at = 0;
    for (std::size_t j = 0; j < values.columns; ++j) {
        ValueColumn column = column_of(values, j, at);
        coarsen(column, level[j]);
        result.push(column);
    }
    return result;
}

ExactNumbers sums_of(const ValuesView& values, const bool* wanted, const std::int32_t* place, std::size_t present) {
    ValueSums sums(present, values.columns);
    for (std::size_t i = 0; i < values.cells; ++i) {
        const auto j = static_cast<std::size_t>(values.feature[i] >> 32);
        const std::int64_t index = values.feature[i] & missing_index;
        if (index == missing_index || !wanted[j] || values.level[j] != exact_level) continue;
        const Parts value(number_of(values.tick[values.bounds[j] + index]));
        const auto k = static_cast<std::size_t>(place[values.klass[i]]);
        sums.add(k, j, value, parts_of(static_cast<Digit>(values.whole[i]), 0));
        if (values.fraction) sums.add(k, j, value, parts_of(values.fraction[i], -64));
    }
    ExactNumbers result;
    result.reserve(3 * present * values.columns);
    for (const FixedSums* all : {&sums.n, &sums.x, &sums.squares})
        for (std::size_t k = 0; k < present; ++k)
            for (std::size_t j = 0; j < values.columns; ++j) all->push(result, k, j);
    return result;
}

}  // namespace naively
