#include "count/exact_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/fixed_sums.hpp"
#include "base/parallel.hpp"
#include "base/slices.hpp"
#include "count/row_blocks.hpp"

namespace naively {
namespace {

// The sizes of a column's values so far, which decide where values are cut.
struct Watch {
    int top = lowest_top - 1;  // at first only zero can be cut
    int small = 0, small_top = 0;
    std::size_t since = 0;
};

// The least exponent e for which |x| is below 2^e; for denormals, that of the largest of them.
inline int exponent_of(double x) { return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1022; }

constexpr int first_top = 32;  // for columns of whole numbers

inline Fault infinite_at(std::size_t row, std::size_t column) {
    return {FaultKind::infinite, static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
}

// Sums of some rows and columns. Most values are added as slices, four columns at a time; values whose size differs
// much from others of their column are added one by one.
template <class Block, class Slices>
class Part {
    using T = typename Block::Value;

   public:
    FixedSums x, squares, missing;  // of the last, weights are negative
    Fault fault;

    Part(Block rows, const Labels& labels, std::size_t first, std::size_t columns, int weight_top)
        : x(labels.classes, columns),
          squares(labels.classes, columns),
          missing(labels.classes, columns),
          rows_(std::move(rows)),
          labels_(labels),
          first_(first),
          columns_(columns),
          groups_((columns + lanes - 1) / lanes),
          whole_(columns / lanes),
          rest_(column_of(groups_ - 1)),
          weight_top_(weight_top),
          least_weight_(std::ldexp(1.0 + 1.0 / 1024, weight_top - 7)),
          most_weight_(std::ldexp(1.0, weight_top)) {}

    void add(std::size_t begin, std::size_t end) {
        start();
        if (fused())
            add_wide(begin, end);
        else
            add_rows<false>(begin, end);
        for (std::size_t c = 0; c < labels_.classes; ++c) finish(c);
    }

   private:
    // Slices of four columns.
    struct alignas(64) Group {
        double slice[Slices::all][lanes];

        template <bool fused>
        NAIVELY_INLINE void add(const double* values, const Lanes& weight, double* left, LaneBits& finished) {
            Lanes x, rest;
            load(x, values);
            Slices::template add<fused>(x, weight, slice[0], rest);
            if constexpr (Slices::weighted) {
                keep_zero(finished, rest);
                store(left, rest);
            }
        }
    };

    // The sizes of four columns' values that can be cut: within `reach` of a centre; or up to `most`, if they are
    // multiples of the grid.
    struct alignas(32) Usual {
        double centre[lanes], reach[lanes], most[lanes];

        NAIVELY_INLINE void keep(LaneBits& marks, const double* values) const {
            Lanes x, middle, far;
            load(x, values);
            load(middle, centre);
            load(far, reach);
            keep_within(marks, x, middle, far);
        }
    };

    using Four = std::array<double, lanes>;
    static constexpr std::size_t groups_at_once = 16;

    NAIVELY_FUSED void add_wide(std::size_t begin, std::size_t end) { add_rows<true>(begin, end); }

    template <bool fused>
    NAIVELY_INLINE void add_rows(std::size_t begin, std::size_t end) {
        if (columns_ == 1) return add_column<fused>(begin, end);
        for (std::size_t i = begin; i < end && !fault; ++i) add_row<fused>(i);
    }

    template <bool fused>
    NAIVELY_INLINE void add_row(std::size_t i) {
        if (!usual_weight(i)) return add_directly(i, i + 1);
        make_room(klass(i));
        const double* values = values_of(i);
        for (std::size_t g = 0; g < groups_; g += groups_at_once)
            add_groups<fused>(values, i, g, std::min(g + groups_at_once, groups_));
    }

    // A row as doubles, at least four of them.
    NAIVELY_INLINE const double* values_of(std::size_t i) {
        const T* row = rows_.row(i);
        if constexpr (std::is_same_v<T, double>)
            if (columns_ >= lanes) return row;
        for (std::size_t j = 0; j < columns_; ++j) values_[j] = static_cast<double>(row[j]);
        return values_.data();
    }

    // Add the values of the groups from `first` to `last`.
    template <bool fused>
    NAIVELY_INLINE void add_groups(const double* values, std::size_t i, std::size_t first, std::size_t last) {
        const std::size_t whole = std::min(last, whole_), rest = rest_;
        const char* soon = prefetch_address(rows_.row(i));
        const Usual* usual = usual_.data();
        LaneBits inside;
        mark_all(inside);
        for (std::size_t g = first; g < whole; ++g) usual[g].keep(inside, values + g * lanes);
        if (whole < last) usual[whole].keep(inside, values + rest);
        if (!all(inside) && !all_fit(values, first, last)) [[unlikely]]
            values = usual_values(values, i, first, last);
        Group* groups = &sums_[klass(i) * groups_];
        Four* left = left_.data();
        Lanes weight{};
        fill(weight, labels_.weight_of(i));
        LaneBits finished;
        mark_all(finished);
        for (std::size_t g = first; g < whole; ++g) {
            NAIVELY_PREFETCH(soon + g * lanes * sizeof(T));
            groups[g].template add<fused>(values + g * lanes, weight, left[g].data(), finished);
        }
        if (whole < last) groups[whole].template add<fused>(values + rest, weight, left[whole].data(), finished);
        if (Slices::weighted && !all(finished)) [[unlikely]]
            add_left(klass(i), first, last);
    }

    // The address of a row that will be read some rows later. It may lie behind the end, since it is only prefetched.
    static NAIVELY_INLINE const char* prefetch_address(const T* row) {
        return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(row) + 3072);
    }

    // Add the bits that weighted slices could not hold.
    void add_left(std::size_t c, std::size_t first, std::size_t last) {
        for (std::size_t g = first; g < last; ++g)
            for (std::size_t l = g * lanes - column_of(g); l < lanes && column_of(g) + l < columns_; ++l)
                if (left_[g][l] != 0.0) squares.add(c, column_of(g) + l, term_of(left_[g][l]));
    }

    // Add a single column: some rows at a time are sorted by class, and four of a class added together.
    template <bool fused>
    NAIVELY_INLINE void add_column(std::size_t begin, std::size_t end) {
        const std::size_t many = std::max<std::size_t>(1024, lanes * labels_.classes);
        for (; begin < end && !fault; begin += many) {
            sort_by_class(begin, std::min(begin + many, end));
            for (std::size_t c = 0; c < labels_.classes; ++c)
                for (std::size_t at = sorted_.starts[c]; at < sorted_.starts[c + 1]; at += lanes) {
                    make_room(c);
                    add_four<fused>(c, at);
                }
        }
    }

    template <bool fused>
    NAIVELY_INLINE void add_four(std::size_t c, std::size_t at) {
        Lanes weight{};
        if constexpr (Slices::weighted) load(weight, &sorted_.weights[at]);
        LaneBits usual, finished;
        mark_all(usual);
        mark_all(finished);
        usual_[0].keep(usual, &sorted_.values[at]);
        if (all(usual)) [[likely]] {
            sums_[c].template add<fused>(&sorted_.values[at], weight, left_[0].data(), finished);
        } else if (take_usual(&sorted_.values[at], cut_.data(), c, 0)) {
            sums_[c].template add<fused>(cut_.data(), weight, left_[0].data(), finished);
        } else {
            for (std::size_t l = 0; l < lanes; ++l) {  // one by one, since each value may move the slices
                double one[lanes] = {};
                one[l] = usual_value(cut_[l], sorted_.rows[at + l], 0);
                sums_[c].template add<fused>(one, weight, left_[0].data(), finished);
                if (Slices::weighted && left_[0][l] != 0.0) squares.add(c, 0, term_of(left_[0][l]));
            }
            return;
        }
        if (!Slices::weighted || all(finished)) return;
        for (const double left : left_[0])
            if (left != 0.0) squares.add(c, 0, term_of(left));
    }

    void sort_by_class(std::size_t begin, std::size_t end) {
        std::vector<std::size_t>& starts = sorted_.starts;
        starts.assign(labels_.classes + 1, 0);
        for (std::size_t i = begin; i < end; ++i) ++starts[klass(i) + 1];
        for (std::size_t c = 0; c < labels_.classes; ++c)
            starts[c + 1] = (starts[c] + starts[c + 1] + lanes - 1) / lanes * lanes;
        sorted_.next = starts;
        const std::size_t size = starts.back();
        sorted_.values.assign(size, 0.0);
        sorted_.rows.assign(size, 0);
        if (Slices::weighted) sorted_.weights.assign(size, 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            if (!usual_weight(i)) {
                add_directly(i, i + 1);
                continue;
            }
            const std::size_t to = sorted_.next[klass(i)]++;
            sorted_.values[to] = static_cast<double>(*rows_.row(i));
            sorted_.rows[to] = i;
            if (Slices::weighted) sorted_.weights[to] = labels_.weight[i];
        }
    }

    std::size_t klass(std::size_t i) const { return static_cast<std::size_t>(labels_.klass[i]); }

    bool usual_weight(std::size_t i) const {
        if constexpr (Slices::weighted) return labels_.weight[i] >= least_weight_ && labels_.weight[i] <= most_weight_;
        return true;
    }

    NAIVELY_INLINE void make_room(std::size_t c) {
        if (++pending_[c] <= most_in_slices) return;
        empty_class(c);
        pending_[c] = 1;
    }

    void start() {
        sums_.assign(labels_.classes * groups_, {});
        start_.assign(groups_, {});
        missing_.assign(labels_.classes * groups_, {});
        usual_.assign(groups_, {});
        left_.assign(groups_, {});
        for (auto* a : {&values_, &cut_}) a->assign(groups_ * lanes, 0.0);
        watch_.assign(columns_, {});
        pending_.assign(labels_.classes, 0);
        for (std::size_t j = 0; j < columns_; ++j)
            if (rows_.whole(j)) move(j, first_top, 0);
    }

    // The values that can be cut; zeros stand for missing ones and for those added one by one.
    NAIVELY_INLINE const double* usual_values(const double* values, std::size_t i, std::size_t first,
                                              std::size_t last) {
        for (std::size_t g = first; g < last; ++g) {
            const std::size_t j = column_of(g);
            if (!take_usual(values + j, &cut_[j], klass(i), g)) cut_lanes(i, g);
        }
        return cut_.data();
    }

    void cut_lanes(std::size_t i, std::size_t g) {
        const std::size_t end = std::min(column_of(g) + lanes, columns_);
        for (std::size_t j = column_of(g); j < end; ++j) {
            if (j >= g * lanes)
                cut_[j] = usual_value(cut_[j], i, j);
            else if (!can_be_cut(cut_[j], j))  // added with the group before
                cut_[j] = 0.0;
        }
    }

    // Copy four values without missing ones. Returns true if all can be cut.
    NAIVELY_INLINE bool take_usual(const double* values, double* cut, std::size_t c, std::size_t g) {
        Lanes x;
        load(x, values);
        if constexpr (!Slices::weighted) {
            Lanes sum, one;
            load(sum, missing_[c * groups_ + g].data());
            fill(one, 1.0);
            take_missing(x, sum, one);
            store(missing_[c * groups_ + g].data(), sum);
        }
        store(cut, x);
        return fit(cut, g);
    }

    // True if four values can be cut: of the usual size, or multiples of the grid.
    NAIVELY_INLINE bool fit(const double* values, std::size_t g) const {
        Lanes x, start, centre, most;
        LaneBits usual, even;
        mark_all(usual);
        mark_all(even);
        usual_[g].keep(usual, values);
        load(x, values);
        load(start, start_[g].slice[0]);
        load(most, usual_[g].most);
        fill(centre, 0.0);
        keep_within(even, x, centre, most);
        if constexpr (Slices::weighted)
            keep_zero(even, x);
        else
            keep_zero(even, x - ((x + start) - start));
        return all_either(usual, even);
    }

    NAIVELY_INLINE bool all_fit(const double* values, std::size_t first, std::size_t last) const {
        for (std::size_t g = first; g < last; ++g)
            if (!fit(values + column_of(g), g)) return false;
        return true;
    }

    // Return the value if it can be cut, perhaps after moving the slices; otherwise add it by itself and return zero.
    double usual_value(double value, std::size_t i, std::size_t j) {
        if (can_be_cut(value, j) || (std::isfinite(value) && settle(value, i, j))) return value;
        add_value(value, i, klass(i), j);
        return 0.0;
    }

    bool can_be_cut(double value, std::size_t j) const {
        const std::size_t g = group_of(j), l = j - column_of(g);
        const double size = std::fabs(value), start = start_[g].slice[0][l];
        if (size == 0.0) return true;
        const Usual& usual = usual_[g];
        if (!(size <= usual.most[l])) return false;
        return std::fabs(size - usual.centre[l]) <= usual.reach[l] ||
               (!Slices::weighted && (value + start) - start == value);
    }

    // Move a column's slices up for a value that is too large, and down when most values have become too small. Returns
    // true if the value can be cut now.
    bool settle(double value, std::size_t i, std::size_t j) {
        Watch& watch = watch_[j];
        const int exponent = exponent_of(value);
        if (exponent > watch.top) {
            if (exponent >= highest_top) return false;
            move(j, std::max(exponent + 1, lowest_top), i);
            return can_be_cut(value, j);
        }
        watch.small_top = watch.small ? std::max(watch.small_top, exponent) : exponent;
        if (++watch.small < 256) return false;
        const bool most = i - watch.since < 1024;
        watch.small = 0;
        watch.since = i;
        if (!most || watch.small_top + 40 >= watch.top || watch.top <= lowest_top) return false;
        move(j, std::max(watch.small_top + 1, lowest_top), i);
        return can_be_cut(value, j);
    }

    // Place a column's slices for values up to 2^top.
    void move(std::size_t j, int top, std::size_t i) {
        for (std::size_t c = 0; c < labels_.classes; ++c) empty(c, j);
        watch_[j] = {top, 0, 0, i};
        // true if all values are multiples of the grid
        const bool whole = rows_.whole(j) && !Slices::weighted && top < 40;
        const double most = std::ldexp(1.0, top),
                     least = whole ? 0.0 : std::ldexp(1.0 + 1.0 / 1024, top - Slices::range);
        each_place(j, [&](std::size_t g, std::size_t l, bool) {
            usual_[g].most[l] = most;
            usual_[g].centre[l] = (most + least) / 2;
            usual_[g].reach[l] = (most - least) / 2;
            for (std::size_t s = 0; s < Slices::all; ++s) {
                const double start = std::ldexp(1.5, Slices::grid(s, top, weight_top_) + 52);
                start_[g].slice[s][l] = start;
                for (std::size_t c = 0; c < labels_.classes; ++c) sums_[c * groups_ + g].slice[s][l] = start;
            }
        });
    }

    // The first column of a group. The last group overlaps the one before it if fewer than four columns are left.
    NAIVELY_INLINE std::size_t column_of(std::size_t g) const {
        return std::min(g * lanes, std::max(columns_, lanes) - lanes);
    }

    std::size_t group_of(std::size_t j) const { return j / lanes; }

    // Call use(group, lane, counts) wherever a column has slices; `counts` is false for lanes that repeat others.
    template <class Use>
    void each_place(std::size_t j, Use&& use) const {
        if (columns_ == 1) {  // four rows at a time
            for (std::size_t l = 0; l < lanes; ++l) use(0, l, true);
            return;
        }
        use(group_of(j), j - column_of(group_of(j)), true);
        const std::size_t last = groups_ - 1;
        if (group_of(j) != last && j >= column_of(last)) use(last, j - column_of(last), false);
    }

    void empty_class(std::size_t c) {
        for (std::size_t j = 0; j < columns_; ++j) empty(c, j);
    }

    void finish(std::size_t c) {
        empty_class(c);
        for (std::size_t j = 0; j < columns_; ++j) {
            each_place(j, [&](std::size_t g, std::size_t l, bool counts) {
                const double many = missing_[c * groups_ + g][l];
                if (counts && many > 0.0) missing.add(c, j, term_of(-many));
            });
        }
    }

    // Add the slices to the exact sums, and start them again.
    void empty(std::size_t c, std::size_t j) {
        each_place(j, [&](std::size_t g, std::size_t l, bool counts) {
            for (std::size_t s = 0; s < Slices::all; ++s) {
                double& sum = sums_[c * groups_ + g].slice[s][l];
                const double start = start_[g].slice[s][l];
                if (sum == start) continue;
                if (counts) (s < Slices::of_value ? x : squares).add(c, j, term_of(sum - start));
                sum = start;
            }
        });
    }

    // Add values one by one: few of them, values of unusual size, or unusual weights.
    void add_directly(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !fault; ++i) {
            if (labels_.weight_of(i) == 0.0) continue;
            const T* row = rows_.row(i);
            for (std::size_t j = 0; j < columns_; ++j) add_value(static_cast<double>(row[j]), i, klass(i), j);
        }
    }

    void add_value(double value, std::size_t i, std::size_t c, std::size_t j) {
        if (is_missing(value)) {
            missing.add(c, j, term_of(-labels_.weight_of(i)));
        } else if (std::isinf(value)) {
            fault.keep_first(infinite_at(i, first_ + j));
        } else if (value != 0.0) {
            const Parts parts(value);
            if constexpr (Slices::weighted) {
                const Parts weight(labels_.weight[i]);
                x.add(c, j, term_of(weight, parts));
                squares.add(c, j, term_of(weight, parts, parts));
            } else {
                x.add(c, j, term_of(parts));
                squares.add(c, j, term_of(parts, parts));
            }
        }
    }

    Block rows_;
    const Labels& labels_;
    std::size_t first_, columns_, groups_;
    std::size_t whole_, rest_;  // number of full groups, and the begin of the last one
    int weight_top_;
    double least_weight_, most_weight_;
    std::vector<Group> sums_, start_;  // slices of each class, and their starts
    std::vector<Usual> usual_;
    std::vector<Four> left_;            // the bits of a row that slices could not hold
    std::vector<double> values_, cut_;  // of one row
    std::vector<Four> missing_;         // missing values of each class and column, if weights are one
    // The rows of a single column by class; the number of places of a class is a multiple of four, and zeros fill the
    // last.
    struct {
        std::vector<std::size_t> starts, next, rows;
        std::vector<double> values, weights;
    } sorted_;
    std::vector<Watch> watch_;
    std::vector<std::size_t> pending_;
};

// The exponent t for which most weights are from 2^(t - 7) to 2^t.
int usual_weights(const Labels& labels, std::size_t rows) {
    constexpr int lowest = -64, highest = 63;
    std::array<std::size_t, highest - lowest + 1> seen{};
    for (std::size_t i = 0; i < rows; ++i) {
        if (labels.weight[i] == 0.0) continue;
        int exponent;
        std::frexp(labels.weight[i], &exponent);
        ++seen[static_cast<std::size_t>(exponent - lowest)];
    }
    std::size_t best = 0, most = 0, now = 0;
    for (std::size_t e = 0; e < seen.size(); ++e) {
        now += seen[e] - (e >= 7 ? seen[e - 7] : 0);
        if (now > most) {
            most = now;
            best = e;
        }
    }
    return static_cast<int>(best) + lowest;
}

template <class T>
using PlainSlices = std::conditional_t<sizeof(T) <= 4, ShortSlices, DoubleSlices>;

// The division of work: some columns of some rows at a time, so that the sums of one share stay in the cache.
struct Shares {
    std::size_t columns, blocks, parts;
    Shares(std::size_t rows, std::size_t width, std::size_t classes) {
        columns = std::clamp<std::size_t>((std::size_t{1} << 14) / (classes + 1) / lanes * lanes, 16, 1024);
        blocks = (width + columns - 1) / columns;
        parts = blocks > 4 ? 1 : std::clamp<std::size_t>((rows * width) >> 19, 1, 8);
    }
};

template <class Slices, class Source>
void count_parts(const Source& rows, const Labels& labels, int threads, int weight_top, FixedSums& x,
                 FixedSums& squares, FixedSums& missing, Fault& fault) {
    const Shares shares(rows.rows, rows.columns, labels.classes);
    std::vector<Part<BlockOf<Source>, Slices>> parts;
    for (std::size_t b = 0; b < shares.blocks; ++b) {
        const std::size_t first = b * shares.columns, columns = std::min(shares.columns, rows.columns - first);
        for (std::size_t p = 0; p < shares.parts; ++p)
            parts.emplace_back(BlockOf<Source>(rows, first, columns), labels, first, columns, weight_top);
    }
    for_each_task(parts.size(), worth_threads(threads, rows.rows * rows.columns), [&](std::size_t at) {
        const std::size_t p = at % shares.parts;
        parts[at].add(rows.rows * p / shares.parts, rows.rows * (p + 1) / shares.parts);
    });
    for (std::size_t at = 0; at < parts.size(); ++at) {
        const std::size_t first = at / shares.parts * shares.columns;
        fault.keep_first(parts[at].fault);
        x.add(parts[at].x, first);
        squares.add(parts[at].squares, first);
        missing.add(parts[at].missing, first);
    }
}

// The sum of the weights of each class.
FixedSums rows_of_classes(const Labels& labels, std::size_t rows) {
    FixedSums sums(labels.classes, 1);
    std::vector<std::size_t> seen(labels.classes, 0);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto c = static_cast<std::size_t>(labels.klass[i]);
        if (!labels.weight)
            ++seen[c];
        else if (labels.weight[i] != 0.0)
            sums.add(c, 0, term_of(labels.weight[i]));
    }
    for (std::size_t c = 0; c < labels.classes; ++c)
        if (seen[c]) sums.add(c, 0, term_of(static_cast<double>(seen[c])));
    return sums;
}

// For few rows per class: add every value by itself.
template <class Source>
ExactCount count_few(const Source& rows, const Labels& labels) {
    ExactCount count;
    std::vector<std::size_t> ends(labels.classes + 1, 0), order(rows.rows);
    for (std::size_t i = 0; i < rows.rows; ++i) ++ends[static_cast<std::size_t>(labels.klass[i]) + 1];
    for (std::size_t c = 0; c < labels.classes; ++c) ends[c + 1] += ends[c];
    std::vector<std::size_t> next = ends;
    for (std::size_t i = 0; i < rows.rows; ++i) order[next[static_cast<std::size_t>(labels.klass[i])]++] = i;
    ExactNumbers sums_of_x, sums_of_squares;
    count.sums.reserve(3 * labels.classes * rows.columns);
    for (std::size_t c = 0; c < labels.classes; ++c) {
        for (std::size_t j = 0; j < rows.columns; ++j) {
            FixedSum n, x, squares;
            for (std::size_t at = ends[c]; at < ends[c + 1]; ++at) {
                const double weight = labels.weight_of(order[at]), value = value_at(rows, order[at], j);
                if (std::isinf(value)) count.fault.keep_first(infinite_at(order[at], j));
                if (!std::isfinite(value) || weight == 0.0) continue;
                const Parts own(weight), parts(value);
                n.add(term_of(own));
                if (value == 0.0) continue;
                x.add(term_of(own, parts));
                squares.add(term_of(own, parts, parts));
            }
            count.sums.push(n.digits(), n.size(), n.low());
            sums_of_x.push(x.digits(), x.size(), x.low());
            sums_of_squares.push(squares.digits(), squares.size(), squares.low());
        }
    }
    count.sums.append(sums_of_x);
    count.sums.append(sums_of_squares);
    return count;
}

// Round weights to the unit of counts; returns the first that cannot be counted.
Fault counted_weights(const double* weight, std::size_t rows, std::vector<double>& counted) {
    counted.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<std::int64_t>(i);
        if (!(weight[i] >= 0.0)) return {FaultKind::out_of_range, row, -1};
        if (weight[i] > largest_weight) return {FaultKind::too_large, row, -1};
        counted[i] = counted_weight(weight[i]);
    }
    return {};
}

}  // namespace

template <class Source>
ExactCount count_exactly(const Source& rows, const Labels& given, int threads) {
    using T = typename BlockOf<Source>::Value;
    ExactCount count;
    Labels labels = given;
    std::vector<double> weight;
    if (given.weight) {
        count.fault = counted_weights(given.weight, rows.rows, weight);
        if (count.fault) return count;
        labels.weight = weight.data();
    }
    if (rows.rows < 8 * labels.classes) return count_few(rows, labels);
    FixedSums x(labels.classes, rows.columns), squares = x, missing = x;
    if (labels.weight)
        count_parts<WeightedSlices>(rows, labels, threads, usual_weights(labels, rows.rows), x, squares, missing,
                                    count.fault);
    else
        count_parts<PlainSlices<T>>(rows, labels, threads, 0, x, squares, missing, count.fault);
    if (count.fault) return count;
    missing.add_to_all(rows_of_classes(labels, rows.rows));
    count.sums.reserve(3 * labels.classes * rows.columns);
    for (const FixedSums* sums : {&missing, &x, &squares})
        for (std::size_t c = 0; c < labels.classes; ++c)
            for (std::size_t j = 0; j < rows.columns; ++j) sums->push(count.sums, c, j);
    return count;
}

#define NAIVELY_COUNT_EXACTLY(Source) template ExactCount count_exactly(const Source&, const Labels&, int);
NAIVELY_COUNT_EXACTLY(Dense<double>)
NAIVELY_COUNT_EXACTLY(Dense<float>)
NAIVELY_COUNT_EXACTLY(Dense<std::int64_t>)
NAIVELY_COUNT_EXACTLY(Dense<std::int32_t>)
NAIVELY_COUNT_EXACTLY(Dense<std::uint8_t>)
NAIVELY_COUNT_EXACTLY(NumberColumns)
#undef NAIVELY_COUNT_EXACTLY

}  // namespace naively
