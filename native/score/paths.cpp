#include "score/paths.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/lanes.hpp"
#include "base/parallel.hpp"

namespace naively {
namespace {

NAIVELY_INLINE void add_path(double* NAIVELY_RESTRICT sum, const double* NAIVELY_RESTRICT path, double x,
                             std::size_t width) {
    if (width == 1) {
        sum[0] += path[0] * x;
        return;
    }
    for (std::size_t k = 0; k < width; k += lanes) {
        Lanes s, p;
        load(s, sum + k);
        load(p, path + k);
        add_product(s, p, x);
        store(sum + k, s);
    }
}

// Returns the fault, or nullptr. Throws nothing: it is compiled for several kinds of registers.
template <class T, class I>
NAIVELY_INLINE const char* score_rows(const Sparse<T, I>& rows, const CellPaths& cells, std::size_t path_length,
                                      std::size_t begin, std::size_t end, double* sum, double* out) {
    const std::size_t size = cells.classes * cells.width;
    const char* wrong = nullptr;
    for (std::size_t i = begin; i < end; ++i) {
        std::fill(sum, sum + size, 0.0);
        double length = 0.0;
        const auto use = [&](std::int64_t column, double x) {
            const std::int64_t from = cells.starts[column], to = cells.starts[column + 1];
            if (from < 0 || (to > from && static_cast<std::size_t>(to) > cells.cells)) {
                wrong = "cells are out of range";
                return;
            }
            length += x;
            for (std::int64_t j = from; j < to; ++j) {
                add_path(sum + static_cast<std::size_t>(cells.klass_of[j]) * cells.width,
                         cells.path + static_cast<std::size_t>(cells.row_of[j]) * cells.width, x, cells.width);
            }
        };
        if (each_entry(rows, ValueRange{}, i, use, [](std::int64_t) {})) wrong = "an entry of the rows is out of range";
        if (wrong != nullptr) return wrong;
        for (std::size_t c = 0; c < size; c += cells.width) add_path(sum + c, cells.base + c, length, cells.width);
        for (std::size_t k = 0; k < path_length; ++k) {
            double* to = out + (k * rows.rows + i) * cells.classes;
            for (std::size_t c = 0; c < cells.classes; ++c) to[c] = sum[c * cells.width + k];
        }
    }
    return nullptr;
}

#define NAIVELY_SCORE_PATHS(T, I)                                                                                  \
    NAIVELY_WIDE const char* score_wide(const Sparse<T, I>& rows, const CellPaths& cells, std::size_t path_length, \
                                        std::size_t begin, std::size_t end, double* sum, double* out) {            \
        return score_rows(rows, cells, path_length, begin, end, sum, out);                                         \
    }
NAIVELY_SCORE_PATHS(double, std::int32_t)
NAIVELY_SCORE_PATHS(double, std::int64_t)
NAIVELY_SCORE_PATHS(float, std::int32_t)
NAIVELY_SCORE_PATHS(float, std::int64_t)
NAIVELY_SCORE_PATHS(std::int64_t, std::int32_t)
NAIVELY_SCORE_PATHS(std::int64_t, std::int64_t)
NAIVELY_SCORE_PATHS(std::int32_t, std::int32_t)
NAIVELY_SCORE_PATHS(std::int32_t, std::int64_t)
NAIVELY_SCORE_PATHS(std::uint8_t, std::int32_t)
NAIVELY_SCORE_PATHS(std::uint8_t, std::int64_t)
#undef NAIVELY_SCORE_PATHS

constexpr std::size_t small_numbers = 8192;  // logarithms of whole numbers below this are kept

std::vector<double> small_logs(const LogPaths& sums) {
    std::vector<double> logs(small_numbers * sums.width);
    for (std::size_t n = 0; n < small_numbers; ++n)
        for (std::size_t k = 0; k < sums.width; ++k)
            logs[n * sums.width + k] = std::log(static_cast<double>(n) + sums.alpha[k]);
    return logs;
}

NAIVELY_WIDE void sum_logs(const LogPaths& sums, const double* small, std::size_t begin, std::size_t end, double* logs,
                           double* out) {
    for (std::size_t i = begin; i < end; ++i) {
        double* sum = out + i * sums.width;
        std::fill(sum, sum + sums.width, 0.0);
        for (std::int64_t j = sums.starts[i]; j < sums.starts[i + 1]; ++j) {
            const double left = sums.left[j];
            if (left >= 0.0 && left < static_cast<double>(small_numbers) && left == std::floor(left)) {
                add_path(sum, small + static_cast<std::size_t>(left) * sums.width, sums.x[j], sums.width);
            } else {
                for (std::size_t k = 0; k < sums.width; ++k) logs[k] = std::log(left + sums.alpha[k]);
                add_path(sum, logs, sums.x[j], sums.width);
            }
        }
    }
}

template <class Work>
void in_row_parts(std::size_t rows, std::size_t work_size, int threads, Work&& work) {
    const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(rows, work_size >> 15));
    for_each_task(parts, worth_threads(threads, work_size),
                  [&](std::size_t s) { work(rows * s / parts, rows * (s + 1) / parts); });
}

}  // namespace

template <class T, class I>
void score_paths(const Sparse<T, I>& rows, const CellPaths& cells, std::size_t path_length, double* out, int threads) {
    for (std::size_t j = 0; j < cells.cells; ++j) {
        const bool there = cells.klass_of[j] >= 0 && static_cast<std::size_t>(cells.klass_of[j]) < cells.classes &&
                           cells.row_of[j] >= 0 && static_cast<std::size_t>(cells.row_of[j]) < cells.rows;
        if (!there) throw std::invalid_argument("a class or a row of the path is out of range");
    }
    in_row_parts(rows.rows, rows.stored * cells.width, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> sum(cells.classes * cells.width);
        const char* wrong = score_wide(rows, cells, path_length, begin, end, sum.data(), out);
        if (wrong != nullptr) throw std::invalid_argument(wrong);
    });
}

template <class I>
bool names_twice(const I* columns_of, const I* starts, std::size_t rows, std::size_t columns, std::size_t stored) {
    std::vector<std::int64_t> last(columns, -1);  // for each column, the last row that has it
    for (std::size_t i = 0; i < rows; ++i) {
        if (starts[i] < 0 || starts[i + 1] < starts[i] || static_cast<std::size_t>(starts[i + 1]) > stored)
            throw std::invalid_argument("indptr is out of range");
        for (auto k = static_cast<std::size_t>(starts[i]); k < static_cast<std::size_t>(starts[i + 1]); ++k) {
            if (columns_of[k] < 0 || static_cast<std::size_t>(columns_of[k]) >= columns)
                throw std::invalid_argument("a column is out of range");
            std::int64_t& row = last[static_cast<std::size_t>(columns_of[k])];
            if (row == static_cast<std::int64_t>(i)) return true;
            row = static_cast<std::int64_t>(i);
        }
    }
    return false;
}

template bool names_twice<std::int32_t>(const std::int32_t*, const std::int32_t*, std::size_t, std::size_t,
                                        std::size_t);
template bool names_twice<std::int64_t>(const std::int64_t*, const std::int64_t*, std::size_t, std::size_t,
                                        std::size_t);

void sum_log_paths(const LogPaths& sums, double* out, int threads) {
    const std::vector<double> small = small_logs(sums);
    in_row_parts(sums.rows, sums.entries * sums.width, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> logs(sums.width);
        sum_logs(sums, small.data(), begin, end, logs.data(), out);
    });
}

#define NAIVELY_PATHS_OF(T, I) \
    template void score_paths<T, I>(const Sparse<T, I>&, const CellPaths&, std::size_t, double*, int);
#define NAIVELY_PATHS(T)              \
    NAIVELY_PATHS_OF(T, std::int32_t) \
    NAIVELY_PATHS_OF(T, std::int64_t)
NAIVELY_PATHS(double)
NAIVELY_PATHS(float)
NAIVELY_PATHS(std::int64_t)
NAIVELY_PATHS(std::int32_t)
NAIVELY_PATHS(std::uint8_t)
#undef NAIVELY_PATHS
#undef NAIVELY_PATHS_OF

}  // namespace naively
