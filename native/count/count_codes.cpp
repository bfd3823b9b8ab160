#include <algorithm>

#include "base/parallel.hpp"
#include "count/count.hpp"

namespace naively {
namespace {

constexpr std::int64_t missing_code = -1;

// The code in x, missing_code if it is missing; `kind` becomes the fault, if there is one.
template <class T>
std::int64_t code_of(T x, std::int64_t largest, FaultKind& kind) {
    kind = FaultKind::none;
    if (is_missing_code(x)) return missing_code;
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isinf(x))
            kind = FaultKind::infinite;
        else if (x < 0)
            kind = FaultKind::out_of_range;
        else if (x != std::floor(x))
            kind = FaultKind::not_whole;
        else if (static_cast<double>(x) > static_cast<double>(largest))
            kind = FaultKind::too_large;
        if (kind != FaultKind::none) return 0;
    } else {
        if (x < 0)
            kind = FaultKind::out_of_range;
        else if (static_cast<std::int64_t>(x) > largest)
            kind = FaultKind::too_large;
    }
    return static_cast<std::int64_t>(x);
}

// Counts of a run of rows. Tables grow as larger codes come.
template <class Sum>
struct Table {
    std::size_t classes;
    std::vector<std::int64_t> size;
    std::vector<std::vector<Sum>> sum;
    std::vector<Sum> missing;
    std::size_t total = 0;
    Fault fault;

    Table(std::size_t columns, std::size_t classes_) : classes(classes_), size(columns, 0), sum(columns) {}

    // Make room for a code; returns false if the tables of all columns together would exceed `limit`.
    bool reach(std::size_t column, std::int64_t code, std::size_t limit) {
        if (code < size[column]) return true;
        const std::size_t wanted = static_cast<std::size_t>(code + 1) * classes;
        if (wanted > limit || total - sum[column].size() > limit - wanted) return false;
        total += wanted - sum[column].size();
        size[column] = code + 1;
        if (wanted > sum[column].capacity()) sum[column].reserve(std::max(wanted, 2 * sum[column].capacity()));
        sum[column].resize(wanted);
        return true;
    }
};

// The largest code of each column in these rows, or -1 if a row needs closer checks.
template <class T>
NAIVELY_INLINE bool largest_codes(const Dense<T>& rows, std::size_t begin, std::size_t end, std::int64_t largest,
                                  T* NAIVELY_RESTRICT most) {
    const std::size_t n = rows.columns;
    int bad = 0;
    std::fill(most, most + n, T(0));
    for (std::size_t i = begin; i < end; ++i) {
        const T* NAIVELY_RESTRICT x = rows.row(i);
        for (std::size_t j = 0; j < n; ++j) {
            bad |= x[j] < T(0);
            most[j] = x[j] > most[j] ? x[j] : most[j];
        }
    }
    for (std::size_t j = 0; j < n; ++j) bad |= static_cast<double>(most[j]) > static_cast<double>(largest);
    return bad == 0;
}

#define NAIVELY_LARGEST(T)                                                                                           \
    NAIVELY_WIDE bool largest_codes_wide(const Dense<T>& rows, std::size_t begin, std::size_t end, std::int64_t top, \
                                         T* most) {                                                                  \
        return largest_codes(rows, begin, end, top, most);                                                           \
    }
NAIVELY_LARGEST(std::int64_t)
NAIVELY_LARGEST(std::int32_t)
NAIVELY_LARGEST(std::uint8_t)
#undef NAIVELY_LARGEST

template <class Sum, class T>
void add_carefully(const Dense<T>& rows, const Labels& labels, std::int64_t largest, std::size_t limit,
                   std::size_t begin, std::size_t end, Table<Sum>& table) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto klass = static_cast<std::size_t>(labels.klass[i]);
        const Sum weight = labels.weight_as<Sum>(i);
        for (std::size_t j = 0; j < rows.columns; ++j) {
            FaultKind kind;
            const std::int64_t code = code_of(rows.row(i)[j], largest, kind);
            if (kind != FaultKind::none) {
                table.fault = {kind, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
                return;
            }
            if (code == missing_code) {
                if (table.missing.empty()) table.missing.resize(rows.columns * table.classes);
                table.missing[j * table.classes + klass] += weight;
                continue;
            }
            if (!table.reach(j, code, limit)) {
                table.fault = {FaultKind::too_large, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
                return;
            }
            table.sum[j][static_cast<std::size_t>(code) * table.classes + klass] += weight;
        }
    }
}

// Add rows whose codes are all within their columns' tables.
template <class Sum, class T>
void add_quickly(const Dense<T>& rows, const Labels& labels, std::size_t begin, std::size_t end, Sum** sum,
                 std::size_t classes) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto klass = static_cast<std::size_t>(labels.klass[i]);
        const Sum weight = labels.weight_as<Sum>(i);
        const T* x = rows.row(i);
        for (std::size_t j = 0; j < rows.columns; ++j)
            sum[j][static_cast<std::size_t>(x[j]) * classes + klass] += weight;
    }
}

template <class Sum, class T>
void add_run(const Dense<T>& rows, const Labels& labels, std::int64_t largest, std::size_t limit, std::size_t begin,
             std::size_t end, Table<Sum>& table) {
    if constexpr (std::is_floating_point_v<T>) {
        add_carefully(rows, labels, largest, limit, begin, end, table);
    } else {
        // A run of rows that stays in the cache while it is read twice: for the largest codes, then to count.
        const std::size_t step = std::max<std::size_t>(16, (std::size_t{1} << 14) / (rows.columns + 1));
        std::vector<T> most(rows.columns);
        std::vector<Sum*> sum(rows.columns);
        for (std::size_t i = begin; i < end && !table.fault; i += step) {
            const std::size_t stop = std::min(i + step, end);
            if (!largest_codes_wide(rows, i, stop, largest, most.data())) {
                add_carefully(rows, labels, largest, limit, i, stop, table);
                continue;
            }
            for (std::size_t j = 0; j < rows.columns; ++j) {
                if (!table.reach(j, static_cast<std::int64_t>(most[j]), limit)) {
                    add_carefully(rows, labels, largest, limit, i, stop, table);  // this finds the row of the fault
                    return;
                }
                sum[j] = table.sum[j].data();
            }
            add_quickly(rows, labels, i, stop, sum.data(), table.classes);
        }
    }
}

template <class Sum, class T>
CodeCount count_in(const Dense<T>& rows, const Labels& labels, std::int64_t largest, int threads) {
    const std::size_t parts = segments(rows.rows * rows.columns, 0);
    const std::size_t limit = (static_cast<std::size_t>(largest) + 1) * labels.classes / parts;
    std::vector<Table<Sum>> part(parts, Table<Sum>(rows.columns, labels.classes));
    for_each_task(parts, worth_threads(threads, rows.rows * rows.columns), [&](std::size_t s) {
        add_run(rows, labels, largest, limit, rows.rows * s / parts, rows.rows * (s + 1) / parts, part[s]);
    });
    CodeCount total;
    for (const Table<Sum>& table : part) total.fault.keep_first(table.fault);
    if (total.fault) return total;
    total.sizes.assign(rows.columns, 0);
    std::vector<Sum> sum, missing;
    for (std::size_t j = 0; j < rows.columns; ++j) {
        for (const Table<Sum>& table : part) total.sizes[j] = std::max(total.sizes[j], table.size[j]);
        const std::size_t at = sum.size();
        sum.resize(at + static_cast<std::size_t>(total.sizes[j]) * labels.classes);
        for (const Table<Sum>& table : part)
            for (std::size_t k = 0; k < table.sum[j].size(); ++k) sum[at + k] += table.sum[j][k];
    }
    for (const Table<Sum>& table : part) {
        if (table.missing.empty()) continue;
        if (missing.empty()) missing.resize(table.missing.size());
        for (std::size_t k = 0; k < table.missing.size(); ++k) missing[k] += table.missing[k];
    }
    total.sum = Numbers(std::move(sum));
    total.missing = Numbers(std::move(missing));
    return total;
}

}  // namespace

template <class T>
CodeCount count_codes(const Dense<T>& rows, const Labels& labels, std::int64_t largest, int threads) {
    return labels.weight ? count_in<FixedPoint>(rows, labels, largest, threads)
                         : count_in<std::int64_t>(rows, labels, largest, threads);
}

namespace {

template <class Sum>
bool add_codes(const std::int32_t* codes, std::size_t rows, const Labels& labels, std::size_t size, Numbers& sums) {
    std::vector<Sum> sum((size + 1) * labels.classes);
    for (std::size_t i = 0; i < rows; ++i) {
        const bool missing = is_missing_code(codes[i]);
        const std::size_t code = missing ? size : static_cast<std::uint32_t>(codes[i]);
        if (code >= size && !missing) return false;
        sum[code * labels.classes + static_cast<std::size_t>(labels.klass[i])] += labels.weight_as<Sum>(i);
    }
    sums = Numbers(std::move(sum));
    return true;
}

}  // namespace

bool count_column(const std::int32_t* codes, std::size_t rows, const Labels& labels, std::size_t size, Numbers& sums) {
    return labels.weight ? add_codes<FixedPoint>(codes, rows, labels, size, sums)
                         : add_codes<std::int64_t>(codes, rows, labels, size, sums);
}

#define NAIVELY_COUNT_CODES(T) template CodeCount count_codes<T>(const Dense<T>&, const Labels&, std::int64_t, int);
NAIVELY_COUNT_CODES(double)
NAIVELY_COUNT_CODES(float)
NAIVELY_COUNT_CODES(std::int64_t)
NAIVELY_COUNT_CODES(std::int32_t)
NAIVELY_COUNT_CODES(std::uint8_t)
#undef NAIVELY_COUNT_CODES

}  // namespace naively
