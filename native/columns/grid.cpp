#include "columns/grid.hpp"

#include <algorithm>
#include <memory>

#include "base/lanes.hpp"

namespace naively {
namespace {

constexpr std::size_t largest_sums = std::size_t{1} << 24;

// Numbers cells from 0 on, in order of first appearance. They are looked up in pages, one for each power of two.
class Slots {
   public:
    explicit Slots(int bits) : bits_(bits), pages_(std::size_t{1} << 12) {}

    std::size_t of(std::uint64_t cell) {
        std::unique_ptr<std::uint32_t[]>& page = pages_[cell >> bits_];
        if (!page) page = std::make_unique<std::uint32_t[]>(std::size_t{1} << bits_);
        std::uint32_t& slot = page[cell & ((std::uint64_t{1} << bits_) - 1)];
        if (slot == 0) slot = ++many_;
        return slot - 1;
    }

    std::size_t size() const { return many_; }

    // Call use(cell, slot) for each cell, in ascending order.
    template <class Use>
    void each(Use&& use) const {
        for (std::uint64_t page = 0; page < pages_.size(); ++page) {
            if (!pages_[page]) continue;
            for (std::uint64_t at = 0; at < std::uint64_t{1} << bits_; ++at)
                if (const std::uint32_t slot = pages_[page][at]) use(page << bits_ | at, std::size_t{slot} - 1);
        }
    }

   private:
    int bits_;
    std::vector<std::unique_ptr<std::uint32_t[]>> pages_;
    std::uint32_t many_ = 0;
};

// The counts of one column: whole numbers if rows weigh one each, since those are quicker to add.
template <class Sum>
struct Counting {
    std::vector<std::int64_t> cell;
    std::vector<std::int32_t> klass;
    std::vector<Sum> value, missing;
    Fault fault;

    explicit Counting(std::size_t classes) : missing(classes) {}
    void put(std::uint64_t at, std::size_t of, const Sum& sum) {
        if (sum == Sum{}) return;
        cell.push_back(static_cast<std::int64_t>(at));
        klass.push_back(static_cast<std::int32_t>(of));
        value.push_back(sum);
    }
};

// Call use(row, cell) for each present number; counts missing ones, and stops at an infinite one.
template <class Sum, class T, class Use>
void each_cell(const T* values, std::size_t begin, std::size_t end, const Labels& labels, int bits,
               Counting<Sum>& count, Use&& use) {
    for (std::size_t i = begin; i < end; ++i) {
        const auto x = static_cast<double>(values[i]);
        if (!std::isfinite(x)) {
            if (std::isinf(x)) {
                count.fault = {FaultKind::infinite, static_cast<std::int64_t>(i), 0};
                return;
            }
            count.missing[static_cast<std::size_t>(labels.klass[i])] += labels.weight_as<Sum>(i);
            continue;
        }
        if (!use(i, grid_cell(x, bits))) return;
    }
}

// Sums by slot and class.
template <class T, class Sum>
class SlotCount {
   public:
    SlotCount(const T* values, const Labels& labels, int bits)
        : values_(values), labels_(labels), bits_(bits), slots_(bits) {}

    // Add rows; returns false if the sums would take too much room: n_starts classes, or numbers of all sizes.
    bool add(std::size_t begin, std::size_t end, Counting<Sum>& count) {
        std::uint64_t cell[run];
        std::size_t at[run];
        const std::size_t n = end - begin;
        bool odd = false;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = static_cast<double>(values_[begin + i]);
            odd |= !(std::fabs(x) <= std::numeric_limits<double>::max());
            cell[i] = grid_cell(x, bits_);
        }
        if (odd) return add_one_by_one(begin, end, count);
        const std::int32_t* klass = labels_.klass + begin;
        std::uint64_t last = cell[0];
        std::size_t slot = slots_.of(last) * labels_.classes;
        for (std::size_t i = 0; i < n; ++i) {
            if (cell[i] != last) slot = slots_.of(last = cell[i]) * labels_.classes;
            at[i] = slot + static_cast<std::size_t>(klass[i]);
        }
        if (!reach()) return false;
        Sum* sum = sums_.data();
        for (std::size_t i = 0; i < n; ++i) sum[at[i]] += labels_.weight_as<Sum>(begin + i);
        return true;
    }

    void put_all(Counting<Sum>& count) const {
        slots_.each([&](std::uint64_t cell, std::size_t slot) {
            for (std::size_t k = 0; k < labels_.classes; ++k) count.put(cell, k, sums_[slot * labels_.classes + k]);
        });
    }

    static constexpr std::size_t run = 512;

   private:
    bool add_one_by_one(std::size_t begin, std::size_t end, Counting<Sum>& count) {
        bool fits = true;
        each_cell(values_, begin, end, labels_, bits_, count, [&](std::size_t i, std::uint64_t cell) {
            const std::size_t slot = slots_.of(cell) * labels_.classes;
            if (!reach()) return fits = false;
            sums_[slot + static_cast<std::size_t>(labels_.klass[i])] += labels_.weight_as<Sum>(i);
            return true;
        });
        return fits;
    }

    bool reach() {
        const std::size_t wanted = slots_.size() * labels_.classes;
        if (wanted > largest_sums) return false;
        if (wanted > sums_.size()) sums_.resize(std::max(2 * sums_.size(), wanted));
        return true;
    }

    const T* values_;
    const Labels& labels_;
    int bits_;
    Slots slots_;
    std::vector<Sum> sums_;
};

template <class Sum, class T>
bool count_by_slot(const T* values, std::size_t rows, const Labels& labels, int bits, Counting<Sum>& count) {
    SlotCount<T, Sum> counter(values, labels, bits);
    for (std::size_t i = 0; i < rows && !count.fault; i += counter.run)
        if (!counter.add(i, std::min(i + counter.run, rows), count)) return false;
    if (!count.fault) counter.put_all(count);
    return true;
}

template <class Sum, class T>
void count_by_sorting(const T* values, std::size_t rows, const Labels& labels, int bits, Counting<Sum>& count) {
    struct Entry {
        std::uint64_t key;  // cell and class
        Sum weight;
    };
    std::vector<Entry> entries;
    entries.reserve(rows);
    each_cell(values, 0, rows, labels, bits, count, [&](std::size_t i, std::uint64_t cell) {
        entries.push_back({cell << 32 | static_cast<std::uint32_t>(labels.klass[i]), labels.weight_as<Sum>(i)});
        return true;
    });
    if (count.fault) return;
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    for (std::size_t i = 0; i < entries.size();) {
        const std::uint64_t key = entries[i].key;
        Sum sum{};
        for (; i < entries.size() && entries[i].key == key; ++i) sum += entries[i].weight;
        count.put(key >> 32, static_cast<std::size_t>(key & 0xffffffffu), sum);
    }
}

template <class Sum, class T>
GridCount count_in(const T* values, std::size_t rows, const Labels& labels, int bits) {
    Counting<Sum> count(labels.classes);
    if (labels.classes > 64 || !count_by_slot(values, rows, labels, bits, count)) {
        count = Counting<Sum>(labels.classes);
        count_by_sorting(values, rows, labels, bits, count);
    }
    return {std::move(count.cell), std::move(count.klass), Numbers(std::move(count.value)),
            Numbers(std::move(count.missing)), count.fault};
}

}  // namespace

template <class T>
GridCount count_grid(const T* values, std::size_t rows, const Labels& labels, int bits) {
    return labels.weight ? count_in<FixedPoint>(values, rows, labels, bits)
                         : count_in<std::int64_t>(values, rows, labels, bits);
}

namespace {

// Compare with one start after the other, several numbers at a time.
NAIVELY_INLINE void count_one_by_one(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes) {
    constexpr std::size_t width = 4 * lanes;
    for (std::size_t i = 0; i < grid_run; i += width) {
        Lanes number[4];
        Counts count[4] = {};
        for (std::size_t b = 0; b < 4; ++b) load(number[b], x + i + b * lanes);
        for (std::size_t k = 0; k < n_starts; ++k)
            for (std::size_t b = 0; b < 4; ++b) count_reached(count[b], number[b], starts[k]);
        long long counted[width];
        for (std::size_t b = 0; b < 4; ++b) store(counted + b * lanes, count[b]);
        for (std::size_t k = 0; k < width; ++k) codes[i + k] = static_cast<std::int32_t>(counted[k]);
    }
}

std::int32_t count_by_halves(double x, const double* starts, std::size_t n_starts) {
    const double* low = starts;
    for (std::size_t left = n_starts; left > 0;) {
        const std::size_t half = (left + 1) / 2;
        low += static_cast<std::size_t>(low[half - 1] <= x) * half;  // no branch to mispredict
        left -= half;
    }
    return static_cast<std::int32_t>(low - starts);
}

constexpr std::size_t few_starts = 32;

}  // namespace

NAIVELY_WIDE void count_starts(const double* x, const double* starts, std::size_t n_starts, std::int32_t* codes) {
    if (n_starts <= few_starts) return count_one_by_one(x, starts, n_starts, codes);
    for (std::size_t i = 0; i < grid_run; ++i) codes[i] = count_by_halves(x[i], starts, n_starts);
}

#define NAIVELY_GRID(T) template GridCount count_grid<T>(const T*, std::size_t, const Labels&, int);
NAIVELY_GRID(double)
NAIVELY_GRID(float)
NAIVELY_GRID(std::int64_t)
NAIVELY_GRID(std::int32_t)
NAIVELY_GRID(std::uint8_t)
#undef NAIVELY_GRID

}  // namespace naively
