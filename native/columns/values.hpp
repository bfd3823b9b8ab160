// Values: the counts of the values of number columns by class, exact or, for columns with many values, in ticks.
// A column's level depends only on the rows that were counted, never on their order, batches or threads.
//
// A tick is the leading bits of a double, in the order of the numbers: sign, exponent, and as many bits of the fraction
// as the level of its column says. At level 52 every number is a tick of its own. The level of a column is the finest
// at which it has few enough ticks and cells.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/exact_numbers.hpp"
#include "count/count.hpp"
#include "count/row_blocks.hpp"

namespace naively {

constexpr int exact_level = 52, short_level = 18, grid_level = 10;
constexpr std::size_t most_ticks = 16384;                       // at levels 52 and 18
constexpr std::size_t most_value_cells = std::size_t{1} << 20;  // at levels from 10 to 1
constexpr std::uint64_t no_tick = ~std::uint64_t{0};            // the tick of missing values, behind all others
constexpr std::int64_t missing_index = 0xffffffff;              // the same among the features of cells

inline bool is_level(int level) { return level == exact_level || level == short_level || (level >= 0 && level <= 10); }

// The next coarser level.
inline int next_level(int level) {
    return level == exact_level ? short_level : level == short_level ? grid_level : level - 1;
}

// The tick of x, which is not NaN.
NAIVELY_INLINE std::uint64_t tick_of(double x, int level) {
    const auto pattern = std::bit_cast<std::uint64_t>(x + 0.0);  // + 0.0 turns -0 into 0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return (pattern & sign ? ~pattern : pattern | sign) >> (exact_level - level);
}

// The number of a tick of level 52.
inline double number_of(std::uint64_t tick) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(tick & sign ? tick & ~sign : ~tick);
}

constexpr auto beyond_64_bits = "a count grew beyond what 64 bits hold; divide the weights by a common factor";

// A sum of weights: whole + fraction / 2^64.
struct Amount {
    std::int64_t whole = 0;
    std::uint64_t fraction = 0;

    bool zero() const { return whole == 0 && fraction == 0; }

    void add(const Amount& other) {
        fraction += other.fraction;
        const std::int64_t carry = fraction < other.fraction;
        if (other.whole > std::numeric_limits<std::int64_t>::max() - carry - whole)
            throw std::overflow_error(beyond_64_bits);
        whole += other.whole + carry;
    }

    // Subtract; if the other is larger, return false and change nothing.
    bool take(const Amount& other) {
        if (whole < other.whole || (whole == other.whole && fraction < other.fraction)) return false;
        whole -= other.whole + (fraction < other.fraction);
        fraction -= other.fraction;
        return true;
    }
};

struct ValueCell {
    std::uint64_t tick;
    std::int32_t klass;
    Amount amount;
};

inline bool comes_before(const ValueCell& a, const ValueCell& b) {
    return a.tick != b.tick ? a.tick < b.tick : a.klass < b.klass;
}

// One column: cells by tick and class, ascending; those of missing values last.
struct ValueColumn {
    int level = exact_level;
    std::vector<ValueCell> cells;
};

// Move a column to a coarser level.
void coarsen(ValueColumn& column, int level);

// Move a column to the next level until its cells are few enough.
void fit(ValueColumn& column);

// Add the counts of other rows to those of a column.
void add(ValueColumn& to, ValueColumn other);

// Several columns. The feature of a cell is column << 32 | index of its tick among the ticks of the column.
struct Values {
    std::vector<std::int8_t> level;
    std::vector<std::int64_t> bounds{0};  // the begin of each column's ticks
    std::vector<std::uint64_t> tick;      // ascending within each column
    std::vector<std::int64_t> feature;
    std::vector<std::int32_t> klass;
    std::vector<std::int64_t> whole;
    std::vector<std::uint64_t> fraction;  // empty if all are zero

    void reserve(std::size_t ticks, std::size_t cells);
    void push(const ValueColumn& column);
};

struct ValuesView {
    std::size_t columns, ticks, cells;
    const std::int8_t* level;
    const std::int64_t* bounds;
    const std::uint64_t* tick;
    const std::int64_t* feature;
    const std::int32_t* klass;
    const std::int64_t* whole;
    const std::uint64_t* fraction;  // null if all are zero
};

// True if all indices are in range and everything is in order.
bool sound(const ValuesView& values);

// True if, besides, classes are below `classes`, all ticks are of finite numbers and have cells, and all cells are
// above zero.
bool well_formed(const ValuesView& values, std::size_t classes);

// The first cell whose count would fall below zero.
struct TooMuch {
    bool found = false;
    std::size_t column = 0;
    int level = exact_level;
    ValueCell cell{};
};

// left + right or left - right, for the same columns. Each column gets the finest level at which it is small enough and
// that is not finer than its level in left or right.
Values added(const ValuesView& left, const ValuesView& right, bool subtract, TooMuch& too_much);

// The counts with each column at this level, or at its own if that is coarser.
Values coarser(const ValuesView& values, const std::int8_t* level);

// n, sums of x and of x * x, classes x columns each, for the columns that are exact and `wanted`; zeros for the others.
// The class k of a cell has the place `place[k]` among `present` classes.
ExactNumbers sums_of(const ValuesView& values, const bool* wanted, const std::int32_t* place, std::size_t present);

struct ValueCount {
    Values values;
    Fault fault;
};

// Count separate columns, each from the given level on. Infinite values are faults, and so are weights that are not
// numbers from 0 to 2^62 (in column -1).
ValueCount count_values(const std::vector<NumberColumn>& columns, std::size_t rows, const Labels& labels,
                        const std::int8_t* level, int threads);

}  // namespace naively
