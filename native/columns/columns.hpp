// Column: a column of any type that is read as codes, a few rows at a time, without storing them all.
// Each value has one code, and a value that cannot be used is reported with its row.
#pragma once

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "base/rows.hpp"
#include "columns/known_numbers.hpp"
#include "columns/starts.hpp"
#include "columns/whole_bins.hpp"
#include "text/known_texts.hpp"

namespace naively {

constexpr std::int32_t no_code = std::numeric_limits<std::int32_t>::min();  // code of a missing value

class Column {
   public:
    explicit Column(std::size_t rows) : rows_(rows) {}
    virtual ~Column() = default;
    std::size_t rows() const { return rows_; }

    // Write the codes of some rows to every `stride`-th place; returns the first value that cannot be used.
    virtual Fault read(std::size_t begin, std::size_t end, std::int32_t* codes, std::size_t stride) const = 0;

   private:
    std::size_t rows_;
};

// A column that holds codes.
class CodeColumn : public Column {
   public:
    CodeColumn(const std::int32_t* codes, std::size_t rows) : Column(rows), codes_(codes) {}

    Fault read(std::size_t begin, std::size_t end, std::int32_t* codes, std::size_t stride) const override {
        for (std::size_t i = begin; i < end; ++i, codes += stride) {
            *codes = codes_[i];
            if (*codes < 0 && *codes != no_code) return {FaultKind::out_of_range, static_cast<std::int64_t>(i), 0};
        }
        return {};
    }

   private:
    const std::int32_t* codes_;
};

// Validity bits as Arrow stores them: one bit per row, set if the value is present; row 0 has bit `first`.
struct Bits {
    const std::uint8_t* bytes;  // null: all are present
    std::size_t first;

    // Call use(i) for each absent row; eight present rows at a time are passed over.
    template <class Use>
    void each_gap(std::size_t begin, std::size_t end, Use&& use) const {
        for (std::size_t at = first + begin, stop = first + end; at < stop; at = (at / 8 + 1) * 8) {
            const auto rest = static_cast<unsigned>(std::min<std::size_t>(8 - at % 8, stop - at));
            unsigned gaps = ~unsigned{bytes[at / 8]} >> at % 8 & ((1u << rest) - 1);
            for (; gaps != 0; gaps &= gaps - 1) use(at - first + static_cast<std::size_t>(std::countr_zero(gaps)));
        }
    }
};

// A column of texts, coded by a table of known texts.
template <class Offset>
class TextColumn : public Column {
   public:
    TextColumn(const Strings<Offset>& texts, const Bits& there, const KnownTexts& known)
        : Column(texts.rows), texts_(texts), there_(there), known_(known) {}

    Fault read(std::size_t begin, std::size_t end, std::int32_t* codes, std::size_t stride) const override {
        if (!texts_.sound(begin, end)) throw std::invalid_argument("a text lies outside the data");
        known_.look_up(texts_, begin, end, codes, stride);
        if (there_.bytes) there_.each_gap(begin, end, [&](std::size_t i) { codes[(i - begin) * stride] = no_code; });
        return {};
    }

   private:
    Strings<Offset> texts_;
    Bits there_;
    const KnownTexts& known_;
};

// Numbers in bins: the code is the number of bin starts (ascending) at or below the number.
template <class T>
class BinColumn : public Column {
   public:
    BinColumn(const T* values, std::size_t rows, const double* starts, std::size_t n_starts)
        : Column(rows), values_(values), starts_(starts, starts + n_starts), whole_(starts_, most_whole()) {}

    Fault read(std::size_t begin, std::size_t end, std::int32_t* codes, std::size_t stride) const override {
        if constexpr (std::is_integral_v<T>) {
            if (!whole_.empty()) {
                for (std::size_t i = begin; i < end; ++i, codes += stride) *codes = whole_.of(values_[i]);
                return {};
            }
        }
        double x[starts_run];
        std::int32_t found[starts_run];
        for (std::size_t from = begin; from < end; from += starts_run) {
            const std::size_t n = std::min(starts_run, end - from);
            for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(values_[from + i]);
            std::fill(x + n, x + starts_run, 0.0);
            count_starts(x, starts_.data(), starts_.size(), found);
            for (std::size_t i = 0; i < n; ++i, codes += stride) {
                *codes = found[i];
                if constexpr (std::is_floating_point_v<T>) {
                    if (is_missing(x[i])) *codes = no_code;
                    if (std::isinf(x[i])) return {FaultKind::infinite, static_cast<std::int64_t>(from + i), 0};
                }
            }
        }
        return {};
    }

   private:
    // The largest table of whole numbers that stays in the cache and is no longer than the column.
    std::size_t most_whole() const { return std::is_integral_v<T> ? std::min(rows(), std::size_t{1} << 16) : 0; }

    const T* values_;
    std::vector<double> starts_;
    WholeBins whole_;
};

// A column of whole numbers, coded by a table of known numbers; a fraction is unknown.
template <class T>
class WholeColumn : public Column {
   public:
    WholeColumn(const T* values, std::size_t rows, const KnownNumbers& known)
        : Column(rows), values_(values), known_(known) {}

    Fault read(std::size_t begin, std::size_t end, std::int32_t* codes, std::size_t stride) const override {
        for (std::size_t i = begin; i < end; ++i, codes += stride) {
            const T x = values_[i];
            if constexpr (std::is_floating_point_v<T>) {
                if (is_missing(x)) {
                    *codes = no_code;
                    continue;
                }
                if (std::isinf(x)) return {FaultKind::infinite, static_cast<std::int64_t>(i), 0};
                if (x != std::floor(x)) {
                    *codes = static_cast<std::int32_t>(known_.size());
                    continue;
                }
                if (!(std::fabs(x) < T(9007199254740992.0)))
                    return {FaultKind::not_whole, static_cast<std::int64_t>(i), 0};
            }
            *codes = known_.find(static_cast<std::int64_t>(x));
        }
        return {};
    }

   private:
    const T* values_;
    const KnownNumbers& known_;
};

using Columns = std::vector<const Column*>;

// Write the codes of all columns for some rows, row by row.
inline Fault read_codes(const Columns& columns, std::size_t begin, std::size_t end, std::int32_t* codes) {
    Fault first;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        Fault fault = columns[j]->read(begin, end, codes + j, columns.size());
        fault.column = static_cast<std::int64_t>(j);
        first.keep_first(fault);
    }
    return first;
}

}  // namespace naively
