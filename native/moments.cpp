#include "moments.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace naively {
namespace {

constexpr double largest_double = std::numeric_limits<double>::max();

// Sums about a pivot, for each class present in a run of rows.
struct Run {
    std::vector<double> pivot, sum, square, count;
    std::vector<double> weight;             // of whole rows, per class; what other rows have is in `count`
    std::vector<std::int32_t> present;      // classes seen in this run
    std::vector<std::uint8_t> seen, holes;  // per class: in this run; with missing values
};

template <class T>
NAIVELY_INLINE bool all_finite(const T* NAIVELY_RESTRICT x, std::size_t n) {
    int bad = 0;
    for (std::size_t j = 0; j < n; ++j) bad |= !(std::fabs(static_cast<double>(x[j])) <= largest_double);
    return bad == 0;
}

template <class T>
NAIVELY_INLINE void add_whole_row(const T* NAIVELY_RESTRICT x, double weight, std::size_t n,
                                  const double* NAIVELY_RESTRICT pivot, double* NAIVELY_RESTRICT sum,
                                  double* NAIVELY_RESTRICT square) {
    if (weight == 1.0) {
        for (std::size_t j = 0; j < n; ++j) {
            const double d = static_cast<double>(x[j]) - pivot[j];
            sum[j] += d;
            square[j] += d * d;
        }
    } else {
        for (std::size_t j = 0; j < n; ++j) {
            const double d = static_cast<double>(x[j]) - pivot[j];
            sum[j] += d * weight;
            square[j] += d * d * weight;
        }
    }
}

// The same for a single column. Neighbouring rows are added up apart, so that one does not wait for the other.
template <bool weighted, class T>
NAIVELY_INLINE void add_column(const T* NAIVELY_RESTRICT values, const Labels& labels, std::size_t begin,
                               std::size_t end, Run& run, std::vector<std::size_t>& odd) {
    struct Sums {
        double weight, sum, square, unused;
    };
    constexpr std::size_t lanes = 4;
    const std::size_t classes = run.weight.size();
    std::vector<Sums> parts(lanes * classes, Sums{});
    const double* NAIVELY_RESTRICT pivot = run.pivot.data();
    const std::int32_t* NAIVELY_RESTRICT klass = labels.klass;
    const double* NAIVELY_RESTRICT weights = labels.weight;
    Sums* NAIVELY_RESTRICT part = parts.data();
    for (std::size_t i = begin; i < end; ++i) {
        const auto x = static_cast<double>(values[i]);
        if constexpr (std::is_floating_point_v<T>) {
            if (!(std::fabs(x) <= largest_double)) {
                odd.push_back(i);
                continue;
            }
        }
        const auto c = static_cast<std::size_t>(klass[i]);
        const double d = x - pivot[c];
        Sums& mine = part[(i % lanes) * classes + c];
        if constexpr (weighted) {
            mine.weight += weights[i];
            mine.sum += d * weights[i];
            mine.square += d * d * weights[i];
        } else {
            mine.weight += 1.0;
            mine.sum += d;
            mine.square += d * d;
        }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t c = 0; c < classes; ++c) {
            const Sums& mine = part[lane * classes + c];
            run.weight[c] += mine.weight;
            run.sum[c] += mine.sum;
            run.square[c] += mine.square;
        }
    }
}

// Whole rows are added here; rows with something missing or infinite are listed in `odd`.
template <class T>
NAIVELY_INLINE void add_rows(const Dense<T>& rows, const Labels& labels, std::size_t begin, std::size_t end, Run& run,
                             std::vector<std::size_t>& odd) {
    const std::size_t n = rows.columns;
    if (n == 1) {
        if (labels.weight) return add_column<true>(rows.values, labels, begin, end, run, odd);
        return add_column<false>(rows.values, labels, begin, end, run, odd);
    }
    for (std::size_t i = begin; i < end; ++i) {
        const T* x = rows.row(i);
        if (!all_finite(x, n)) {
            odd.push_back(i);
            continue;
        }
        const auto c = static_cast<std::size_t>(labels.klass[i]);
        const double weight = labels.weight_of(i);
        run.weight[c] += weight;
        add_whole_row(x, weight, n, &run.pivot[c * n], &run.sum[c * n], &run.square[c * n]);
    }
}

#define NAIVELY_ADD_ROWS(T)                                                                                         \
    NAIVELY_WIDE void add_rows_wide(const Dense<T>& rows, const Labels& labels, std::size_t begin, std::size_t end, \
                                    Run& run, std::vector<std::size_t>& odd) {                                      \
        add_rows(rows, labels, begin, end, run, odd);                                                               \
    }
NAIVELY_ADD_ROWS(double)
NAIVELY_ADD_ROWS(float)
NAIVELY_ADD_ROWS(std::int64_t)
NAIVELY_ADD_ROWS(std::int32_t)
NAIVELY_ADD_ROWS(std::uint8_t)
#undef NAIVELY_ADD_ROWS

template <class T>
void add_odd_row(const Dense<T>& rows, const Labels& labels, std::size_t i, Run& run, Fault& fault) {
    const std::size_t n = rows.columns;
    const T* x = rows.row(i);
    const auto c = static_cast<std::size_t>(labels.klass[i]);
    const double weight = labels.weight_of(i);
    if (!run.holes[c]) {
        run.holes[c] = 1;
        std::fill_n(run.count.begin() + static_cast<std::ptrdiff_t>(c * n), n, 0.0);
    }
    for (std::size_t j = 0; j < n; ++j) {
        if (is_missing(x[j])) continue;
        if (std::isinf(static_cast<double>(x[j]))) {
            fault.keep_first({FaultKind::infinite, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
            return;
        }
        const double d = static_cast<double>(x[j]) - run.pivot[c * n + j];
        run.count[c * n + j] += weight;
        run.sum[c * n + j] += d * weight;
        run.square[c * n + j] += d * d * weight;
    }
}

// A value whose square is beyond what a double holds: named by the first in its column that is as large.
template <class T>
Fault too_wide(const Dense<T>& rows, std::size_t column) {
    std::size_t row = 0;
    while (row + 1 < rows.rows && !(std::fabs(static_cast<double>(rows.row(row)[column])) > 1e150)) ++row;
    return {FaultKind::too_wide, static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
}

// One part's moments: merges runs, one after another.
template <class T>
class Part {
   public:
    Part(const Dense<T>& rows, const Labels& labels) : rows_(rows), labels_(labels) {
        const std::size_t cells = labels.classes * rows.columns;
        for (auto* a : {&total.n, &total.mean, &total.m2, &run_.pivot, &run_.sum, &run_.square, &run_.count})
            a->assign(cells, 0.0);
        run_.weight.assign(labels.classes, 0.0);
        run_.seen.assign(labels.classes, 0);
        run_.holes.assign(labels.classes, 0);
    }

    void add(std::size_t begin, std::size_t end) {
        const std::size_t n = rows_.columns;
        run_.present.clear();
        for (std::size_t i = begin; i < end; ++i) {
            const auto c = static_cast<std::size_t>(labels_.klass[i]);
            if (run_.seen[c]) continue;
            run_.seen[c] = 1;
            run_.present.push_back(labels_.klass[i]);
            for (std::size_t j = 0; j < n; ++j) {
                const double x = static_cast<double>(rows_.row(i)[j]);
                const std::size_t at = c * n + j;
                run_.pivot[at] = total.n[at] > 0 ? total.mean[at] : (std::isfinite(x) ? x : 0.0);
            }
        }
        sum_up(begin, end);
        if (total.fault) return;
        if (better_pivots()) sum_up(begin, end);
        for (const std::int32_t c : run_.present) merge(static_cast<std::size_t>(c));
        for (const std::int32_t c : run_.present) run_.seen[static_cast<std::size_t>(c)] = 0;
    }

    MomentCount total;

   private:
    void sum_up(std::size_t begin, std::size_t end) {
        const std::size_t n = rows_.columns;
        for (const std::int32_t present : run_.present) {
            const auto c = static_cast<std::size_t>(present);
            run_.weight[c] = 0.0;
            run_.holes[c] = 0;
            std::fill_n(run_.sum.begin() + static_cast<std::ptrdiff_t>(c * n), n, 0.0);
            std::fill_n(run_.square.begin() + static_cast<std::ptrdiff_t>(c * n), n, 0.0);
        }
        std::vector<std::size_t> odd;
        add_rows_wide(rows_, labels_, begin, end, run_, odd);
        for (const std::size_t i : odd) {
            add_odd_row(rows_, labels_, i, run_, total.fault);
            if (total.fault) return;
        }
    }

    double count_of(std::size_t c, std::size_t j) const {
        return run_.holes[c] ? run_.weight[c] + run_.count[c * rows_.columns + j] : run_.weight[c];
    }

    // Where the sums show the pivot to lie many standard deviations off, take the mean they give instead. What the
    // rows before make of the shift, when all are merged, counts as deviation too.
    bool better_pivots() {
        bool moved = false;
        for (const std::int32_t present : run_.present) {
            const auto c = static_cast<std::size_t>(present);
            for (std::size_t j = 0; j < rows_.columns; ++j) {
                const std::size_t at = c * rows_.columns + j;
                const double n = count_of(c, j);
                if (!(n > 0)) continue;
                const double shift = run_.sum[at] / n;
                const double before = total.n[at], between = shift * shift * (before * (n / (before + n)));
                const double spread = run_.square[at] - run_.sum[at] * shift + between;
                if (n * shift * shift > 1e4 * spread && shift != 0.0) {
                    run_.pivot[at] += shift;
                    moved = true;
                }
            }
        }
        return moved;
    }

    void merge(std::size_t c) {
        for (std::size_t j = 0; j < rows_.columns; ++j) {
            const std::size_t at = c * rows_.columns + j;
            const double n = count_of(c, j);
            if (!(n > 0)) continue;
            const double shift = run_.sum[at] / n;
            const double spread = run_.square[at] - run_.sum[at] * shift;
            if (!std::isfinite(spread)) return too_large(j);
            const double m2 = std::max(0.0, spread);
            const double mean = run_.pivot[at] + shift;
            const double before = total.n[at], both = before + n;
            const double step = mean - total.mean[at];
            total.n[at] = both;
            total.mean[at] = before > 0 ? total.mean[at] + step * (n / both) : mean;
            total.m2[at] += m2 + (before > 0 ? step * step * (before * (n / both)) : 0.0);
        }
    }

    void too_large(std::size_t column) { total.fault.keep_first(too_wide(rows_, column)); }

    const Dense<T>& rows_;
    const Labels& labels_;
    Run run_;
};

void merge_counts(MomentCount& to, const MomentCount& from) {
    to.fault.keep_first(from.fault);
    for (std::size_t i = 0; i < to.n.size(); ++i) {
        if (!(from.n[i] > 0)) continue;
        const double both = to.n[i] + from.n[i], step = from.mean[i] - to.mean[i];
        to.m2[i] += from.m2[i] + (to.n[i] > 0 ? step * step * (to.n[i] * (from.n[i] / both)) : 0.0);
        to.mean[i] = to.n[i] > 0 ? to.mean[i] + step * (from.n[i] / both) : from.mean[i];
        to.n[i] = both;
    }
}

}  // namespace

template <class T>
MomentCount count_moments(const Dense<T>& rows, const Labels& labels, int threads) {
    const std::size_t parts = segments(rows.rows * rows.columns, labels.classes * rows.columns);
    std::vector<MomentCount> part(parts);
    const std::size_t step = std::max<std::size_t>(64, (std::size_t{1} << 15) / (rows.columns + 1));
    for_each_task(parts, worth_threads(threads, rows.rows * rows.columns), [&](std::size_t s) {
        Part<T> mine(rows, labels);
        const std::size_t begin = rows.rows * s / parts, end = rows.rows * (s + 1) / parts;
        for (std::size_t i = begin; i < end && !mine.total.fault; i += step) mine.add(i, std::min(i + step, end));
        part[s] = std::move(mine.total);
    });
    MomentCount total = std::move(part[0]);
    for (std::size_t s = 1; s < parts; ++s) merge_counts(total, part[s]);
    for (std::size_t at = 0; at < total.m2.size() && !total.fault; ++at)
        if (!std::isfinite(total.m2[at])) total.fault = too_wide(rows, at % rows.columns);
    return total;
}

#define NAIVELY_COUNT_MOMENTS(T) template MomentCount count_moments<T>(const Dense<T>&, const Labels&, int);
NAIVELY_COUNT_MOMENTS(double)
NAIVELY_COUNT_MOMENTS(float)
NAIVELY_COUNT_MOMENTS(std::int64_t)
NAIVELY_COUNT_MOMENTS(std::int32_t)
NAIVELY_COUNT_MOMENTS(std::uint8_t)
#undef NAIVELY_COUNT_MOMENTS

}  // namespace naively
