#include <algorithm>
#include <bit>
#include <utility>

#include "base/parallel.hpp"
#include "base/slices.hpp"
#include "count/count.hpp"

namespace naively {
namespace {

// Sums of whole values of rows that weigh one each, in doubles, which is exact while they are not too large.
struct WholePart {
    std::vector<double> sum, missing;
    Fault fault;
    bool whole = true;
};

template <class T>
NAIVELY_INLINE bool all_whole(const T* NAIVELY_RESTRICT x, std::size_t n) {
    if constexpr (std::is_integral_v<T>) {
        return true;
    } else {
        constexpr T shift = std::is_same_v<T, float> ? T(12582912.0) : T(6755399441055744.0);  // 1.5 * 2^23, 1.5 * 2^52
        int odd = 0;
        for (std::size_t j = 0; j < n; ++j) odd |= ((x[j] + shift) - shift) != x[j];
        return odd == 0;
    }
}

// Add whole values. Sets `odd` if a row holds a missing or unacceptable value; the caller handles such rows. Returns
// false if a value is not whole, or too large to see that quickly.
template <class T>
NAIVELY_INLINE bool add_rows(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts, std::size_t begin,
                             std::size_t end, double* sum, std::vector<std::size_t>& odd) {
    const std::size_t n = rows.columns;
    const Limits<T> limits(accepts);
    const T threshold = limits.threshold;
    for (std::size_t i = begin; i < end; ++i) {
        const T* NAIVELY_RESTRICT x = rows.row(i);
        if (!all_accepted(x, n, limits.low, limits.high)) {
            odd.push_back(i);
            continue;
        }
        if (!accepts.binary && !all_whole(x, n)) return false;
        double* NAIVELY_RESTRICT to = sum + static_cast<std::size_t>(labels.klass[i]) * n;
        if (accepts.binary)
            for (std::size_t j = 0; j < n; ++j) to[j] += x[j] > threshold ? 1.0 : 0.0;
        else
            for (std::size_t j = 0; j < n; ++j) to[j] += static_cast<double>(x[j]);
    }
    return true;
}

// Call add(column, value) and miss(column) for a row with missing values; returns its fault, if there is one.
template <class T, class Add, class Miss>
Fault add_odd_row(const Dense<T>& rows, const ValueRange& accepts, std::size_t i, Add&& add, Miss&& miss) {
    const T* x = rows.row(i);
    for (std::size_t j = 0; j < rows.columns; ++j) {
        const FaultKind kind = fault_of(x[j], accepts);
        if (kind != FaultKind::none) return {kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
    }
    for (std::size_t j = 0; j < rows.columns; ++j) {
        if (is_missing(x[j]))
            miss(j);
        else
            add(j, valued(x[j], accepts));
    }
    return {};
}

// The rows that can be added in slices, the others, and the largest value and weight of the former.
struct Scan {
    std::vector<std::size_t> usual, odd;
    double most = 0.0, heaviest = 0.0;
};

template <class T>
NAIVELY_INLINE double largest(const T* NAIVELY_RESTRICT x, std::size_t n) {
    if constexpr (std::is_integral_v<T>) {
        T low = 0, high = 0;
        for (std::size_t j = 0; j < n; ++j) {
            low = x[j] < low ? x[j] : low;
            high = x[j] > high ? x[j] : high;
        }
        return std::max(static_cast<double>(high), -static_cast<double>(low));
    } else {
        // unsigned order of the bits is the order of sizes
        using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        Bits most = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const Bits bits = std::bit_cast<Bits>(x[j]) & std::numeric_limits<Bits>::max();
            most = bits > most ? bits : most;
        }
        return static_cast<double>(std::bit_cast<T>(most));
    }
}

template <class T>
NAIVELY_INLINE void scan_rows(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts, std::size_t begin,
                              std::size_t end, Scan& scan) {
    const Limits<T> limits(accepts);
    scan = Scan{};
    for (std::size_t i = begin; i < end; ++i) {
        const T* x = rows.row(i);
        if (!all_accepted(x, rows.columns, limits.low, limits.high)) {
            scan.odd.push_back(i);
            continue;
        }
        scan.usual.push_back(i);
        scan.heaviest = std::max(scan.heaviest, labels.weight_of(i));
        scan.most = std::max(scan.most, accepts.binary ? 1.0 : largest(x, rows.columns));
    }
}

// Adds values times a weight in slices: the product, as a double, is cut by the sum `high`, and the rest is rounded to
// 2^-64.
template <class T>
NAIVELY_INLINE void cut_products(const T* NAIVELY_RESTRICT x, std::size_t n, double weight,
                                 double* NAIVELY_RESTRICT high, double* NAIVELY_RESTRICT low) {
    constexpr double unit = 1.5 / 4096.0;  // numbers added to this are rounded to 2^-64
    for (std::size_t j = 0; j < n; ++j) {
        const double product = static_cast<double>(x[j]) * weight, before = high[j], after = before + product;
        high[j] = after;
        low[j] += ((product - (after - before)) + unit) - unit;
    }
}

template <class T>
NAIVELY_INLINE void cut_rows(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts,
                             const std::vector<std::size_t>& usual, double* slices, double* rests) {
    const std::size_t n = rows.columns;
    const T threshold = Limits<T>(accepts).threshold;
    std::vector<double> above(accepts.binary ? n : 0);
    for (const std::size_t i : usual) {
        const std::size_t at = static_cast<std::size_t>(labels.klass[i]) * n;
        const T* x = rows.row(i);
        double* NAIVELY_RESTRICT there = above.data();
        for (std::size_t j = 0; j < above.size(); ++j) there[j] = x[j] > threshold ? 1.0 : 0.0;
        if (accepts.binary)
            cut_products(there, n, labels.weight_of(i), slices + at, rests + at);
        else
            cut_products(x, n, labels.weight_of(i), slices + at, rests + at);
    }
}

#define NAIVELY_ADD_ROWS(T)                                                                                           \
    NAIVELY_WIDE bool add_rows_wide(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts,            \
                                    std::size_t begin, std::size_t end, double* sum, std::vector<std::size_t>& odd) { \
        return add_rows(rows, labels, accepts, begin, end, sum, odd);                                                 \
    }                                                                                                                 \
    NAIVELY_WIDE void scan_rows_wide(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts,           \
                                     std::size_t begin, std::size_t end, Scan& scan) {                                \
        scan_rows(rows, labels, accepts, begin, end, scan);                                                           \
    }                                                                                                                 \
    NAIVELY_WIDE void cut_rows_wide(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts,            \
                                    const std::vector<std::size_t>& usual, double* slices, double* rests) {           \
        cut_rows(rows, labels, accepts, usual, slices, rests);                                                        \
    }
NAIVELY_ADD_ROWS(double)
NAIVELY_ADD_ROWS(float)
NAIVELY_ADD_ROWS(std::int64_t)
NAIVELY_ADD_ROWS(std::int32_t)
NAIVELY_ADD_ROWS(std::uint8_t)
#undef NAIVELY_ADD_ROWS

// Sums of values times weights. A block of rows is added in slices: each product, as a double, is cut at a place that
// follows from the largest product of the block, and the rest is rounded to 2^-64. Nothing else is rounded.
class FixedPart {
   public:
    std::vector<FixedPoint> sum, missing;
    Fault fault;

    FixedPart() = default;
    FixedPart(const Labels& labels, const ValueRange& accepts, std::size_t columns)
        : sum(labels.classes * columns),
          labels_(&labels),
          accepts_(&accepts),
          columns_(columns),
          slices_(2 * sum.size(), 0.0) {}

    // The rows of a block: enough to repay emptying its slices.
    std::size_t step() const {
        return std::min(most_in_slices, std::max((std::size_t{1} << 16) / (columns_ + 1), 8 * labels_->classes));
    }

    template <class T>
    void add(const Dense<T>& rows, std::size_t begin, std::size_t end) {
        scan_rows_wide(rows, *labels_, *accepts_, begin, end, scan_);
        for (const std::size_t i : scan_.odd) {
            add_odd(rows, i);
            if (fault) return;
        }
        if (scan_.most == 0.0 || scan_.heaviest == 0.0) return;
        int top;
        std::frexp(scan_.most * scan_.heaviest, &top);
        if (top > highest_cut || labels_->classes * 4 > scan_.usual.size())
            for (const std::size_t i : scan_.usual) add_directly(rows, i);
        else
            add_slices(rows, std::max(top, lowest_cut));
    }

   private:
    // Products up to 2^top are cut at 2^(top - 39), so that the rests add up without rounding in doubles down to 2^-64.
    static constexpr int highest_cut = 15, lowest_cut = -24;

    template <class T>
    void add_odd(const Dense<T>& rows, std::size_t i) {
        const std::size_t base = static_cast<std::size_t>(labels_->klass[i]) * columns_;
        fault = add_odd_row(
            rows, *accepts_, i,
            [&](std::size_t j, double value) { sum[base + j] += FixedPoint(value * labels_->weight_of(i)); },
            [&](std::size_t j) {
                if (missing.empty()) missing.resize(sum.size());
                missing[base + j] += labels_->weight_as<FixedPoint>(i);
            });
    }

    template <class T>
    void add_directly(const Dense<T>& rows, std::size_t i) {
        FixedPoint* to = &sum[static_cast<std::size_t>(labels_->klass[i]) * columns_];
        for (std::size_t j = 0; j < columns_; ++j)
            if (const double value = valued(rows.row(i)[j], *accepts_); value != 0.0)
                to[j] += FixedPoint(value * labels_->weight_of(i));
    }

    template <class T>
    void add_slices(const Dense<T>& rows, int top) {
        const std::size_t size = sum.size();
        const double shift = std::ldexp(1.5, top - 39 + 52);
        std::fill_n(slices_.data(), size, shift);
        cut_rows_wide(rows, *labels_, *accepts_, scan_.usual, slices_.data(), slices_.data() + size);
        for (std::size_t k = 0; k < size; ++k) {
            const double high = slices_[k] - shift, low = std::exchange(slices_[size + k], 0.0);
            if (high != 0.0) sum[k] += FixedPoint(high);
            if (low != 0.0) sum[k] += FixedPoint(low);
        }
    }

    const Labels* labels_ = nullptr;
    const ValueRange* accepts_ = nullptr;
    std::size_t columns_ = 0;
    std::vector<double> slices_;  // the high slices of all sums, then the low ones
    Scan scan_;
};

template <class Sum>
void add_into(std::vector<Sum>& to, const std::vector<Sum>& from) {
    if (from.empty()) return;
    if (to.empty()) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

// Sum all segments of the rows; `count(part, begin, end)` counts one.
template <class Part, class T, class Count>
Part count_parts(const Dense<T>& rows, std::size_t cells, int threads, Count&& count) {
    const std::size_t parts = segments(rows.rows * rows.columns, cells);
    std::vector<Part> part(parts);
    for_each_task(parts, worth_threads(threads, rows.rows * rows.columns),
                  [&](std::size_t s) { count(part[s], rows.rows * s / parts, rows.rows * (s + 1) / parts); });
    for (std::size_t s = 1; s < parts; ++s) {
        part[0].fault.keep_first(part[s].fault);
        add_into(part[0].sum, part[s].sum);
        add_into(part[0].missing, part[s].missing);
        if constexpr (std::is_same_v<Part, WholePart>) part[0].whole &= part[s].whole;
    }
    return std::move(part[0]);
}

template <class T>
WholePart count_whole(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts, int threads) {
    const std::size_t cells = labels.classes * rows.columns;
    return count_parts<WholePart>(rows, cells, threads, [&](WholePart& part, std::size_t begin, std::size_t end) {
        part.sum.assign(cells, 0.0);
        std::vector<std::size_t> odd;
        part.whole = add_rows_wide(rows, labels, accepts, begin, end, part.sum.data(), odd);
        for (const std::size_t i : odd) {
            if (part.fault || !part.whole) return;
            const std::size_t base = static_cast<std::size_t>(labels.klass[i]) * rows.columns;
            part.fault = add_odd_row(
                rows, accepts, i,
                [&](std::size_t j, double value) {
                    part.whole &= value == std::floor(value);
                    part.sum[base + j] += value;
                },
                [&](std::size_t j) {
                    if (part.missing.empty()) part.missing.assign(cells, 0.0);
                    part.missing[base + j] += 1.0;
                });
        }
    });
}

bool to_whole(const std::vector<double>& from, Numbers& to) {
    to.whole.resize(from.size());
    bool small = true;
    for (std::size_t i = 0; i < from.size(); ++i) {
        small &= std::fabs(from[i]) < largest_whole;
        to.whole[i] = small ? static_cast<std::int64_t>(from[i]) : 0;
    }
    return small;
}

}  // namespace

template <class T>
DenseCount count_dense(const Dense<T>& rows, const Labels& labels, const ValueRange& accepts, int threads) {
    DenseCount result;
    if (!labels.weight) {
        const WholePart part = count_whole(rows, labels, accepts, threads);
        result.fault = part.fault;
        if (part.whole && (part.fault || (to_whole(part.sum, result.sum) && to_whole(part.missing, result.missing))))
            return result;
    }
    const std::size_t cells = labels.classes * rows.columns;
    FixedPart part =
        count_parts<FixedPart>(rows, cells, threads, [&](FixedPart& mine, std::size_t from, std::size_t to) {
            mine = FixedPart(labels, accepts, rows.columns);
            const std::size_t step = mine.step();
            for (std::size_t i = from; i < to && !mine.fault; i += step) mine.add(rows, i, std::min(i + step, to));
        });
    return {Numbers(std::move(part.sum)), Numbers(std::move(part.missing)), part.fault};
}

#define NAIVELY_COUNT_DENSE(T) \
    template DenseCount count_dense<T>(const Dense<T>&, const Labels&, const ValueRange&, int);
NAIVELY_COUNT_DENSE(double)
NAIVELY_COUNT_DENSE(float)
NAIVELY_COUNT_DENSE(std::int64_t)
NAIVELY_COUNT_DENSE(std::int32_t)
NAIVELY_COUNT_DENSE(std::uint8_t)
#undef NAIVELY_COUNT_DENSE

}  // namespace naively
