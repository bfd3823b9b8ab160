#include "count/exact_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/fixed_sums.hpp"
#include "base/parallel.hpp"
#include "base/slices.hpp"
#include "count/exact_sums.hpp"

namespace naively {
namespace {

constexpr std::size_t fewest_in_slices = 8;  // fewer rows are added value by value
constexpr std::size_t most_parts = 3;        // largest number of parts of a column, by the size of its values
constexpr int weight_range = 7;

inline int exponent_of(double x) { return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1022; }

// Slices of products of two values from 2^(top - 13) to 2^top, and of their errors; see slices.hpp.
struct PairSlices {
    static constexpr bool weighted = false;
    static constexpr int range = 13;
    static constexpr std::size_t all = 4;
    static constexpr int below[all] = {39, 79, 93, 133};

    template <bool fused>
    static NAIVELY_INLINE void add(const Lanes& a, const Lanes&, const Lanes& b, Lanes* sums, LaneBits&, Lanes&) {
        Lanes product, error;
        multiply<fused>(a, b, product, error);
        cut_into(product, sums[0]);
        sums[1] = sums[1] + product;
        cut_into(error, sums[2]);
        sums[3] = sums[3] + error;
    }
};

// A version for values from 2^(top - 10) on, the first of which is multiplied by a weight of the usual size and given
// as product and error. `left` returns the bits that slices could not hold.
struct WeightedPairSlices {
    static constexpr bool weighted = true;
    static constexpr int range = 10;
    static constexpr std::size_t all = 6;
    static constexpr int below[all] = {39, 79, 93, 133, 146, 186};

    template <bool fused>
    static NAIVELY_INLINE void add(const Lanes& a, const Lanes& a_error, const Lanes& b, Lanes* sums,
                                   LaneBits& finished, Lanes& left) {
        Lanes first, first_error, second, second_error;
        multiply<fused>(a, b, first, first_error);
        multiply<fused>(a_error, b, second, second_error);
        cut_into(first, sums[0]);
        sums[1] = sums[1] + first;
        cut_into(first_error, sums[2]);
        cut_into(second, sums[2]);
        sums[3] = sums[3] + first_error;
        cut_into(second, sums[3]);
        cut_into(second_error, sums[4]);
        sums[5] = sums[5] + second_error;
        keep_zero(finished, second);
        left = second;
    }
};

// Some rows of a class with weights of similar size, as columns with values of similar size: a column with values of
// several sizes becomes several parts, and values that fit none of them are kept apart.
struct Batch {
    struct Value {
        std::size_t row, column;
    };
    std::size_t rows = 0, step = 0;  // `step` is the number of parts, rounded up to whole pairs of lanes
    std::vector<std::size_t> column;
    std::vector<int> top;
    std::vector<double> value, error;  // rows x step; for a weighted row, its values times the weight, and the errors
    std::vector<double> plain;         // values without weights, if rows have weights
    std::vector<Value> apart;          // by row
};

// Sums of the pairs whose first column is one of these, for one class.
template <class Slices>
class Stripe {
   public:
    Stripe(const Dense<double>& rows, const Labels& labels, std::size_t first, std::size_t last, bool any_missing)
        : rows_(rows),
          labels_(labels),
          first_(first),
          last_(last),
          width_(rows.columns),
          known_(1, any_missing ? (last - first) * width_ : 0),
          x_(1, any_missing ? (last - first) * width_ : 0),
          products_(1, (last - first) * width_) {}

    // Add rows of similar weight, at most `most_in_slices` of them.
    void add(const std::size_t* row, std::size_t size) {
        for (std::size_t r = 0; r < size; ++r) add_missing(row[r]);
        if (size < fewest_in_slices) {
            for (std::size_t r = 0; r < size; ++r)
                for (std::size_t i = first_; i < last_; ++i)
                    for (std::size_t j = i + 1; j < width_; ++j) add_pair(row[r], i, j);
            return;
        }
        split(row, size);
        add_apart(row);
        if (fused())
            add_wide();
        else
            add_parts<false>();
    }

    void push(std::array<ExactNumbers, 3>& to) const {
        const FixedSums* sums[] = {&known_, &x_, &products_};
        for (std::size_t which = 0; which < 3; ++which)
            for (std::size_t at = 0; at < (last_ - first_) * width_; ++at)
                if (at < sums[which]->columns())
                    sums[which]->push(to[which], 0, at);
                else
                    to[which].push_zero();
    }

   private:
    using Sums = std::array<double, lanes>;

    std::size_t place(std::size_t i, std::size_t j) const { return (i - first_) * width_ + j; }

    void add_missing(std::size_t row) {
        if (!known_.columns()) return;
        const double* values = rows_.row(row);
        missing_.clear();
        for (std::size_t j = 0; j < width_; ++j)
            if (std::isnan(values[j])) missing_.push_back(j);
        const Parts weight(labels_.weight_of(row));
        for (std::size_t i = first_; i < last_ && !missing_.empty(); ++i) {
            if (std::isnan(values[i])) continue;
            for (const std::size_t j : missing_) {
                known_.add(0, place(i, j), term_of(weight));
                if (values[i] != 0.0) x_.add(0, place(i, j), term_of(weight, Parts(values[i])));
            }
        }
    }

    // Add one product by itself.
    void add_pair(std::size_t row, std::size_t i, std::size_t j) {
        const double a = rows_.row(row)[i], b = rows_.row(row)[j];
        if (std::isnan(a) || std::isnan(b) || a == 0.0 || b == 0.0) return;
        if constexpr (Slices::weighted)
            products_.add(0, place(i, j), term_of(Parts(labels_.weight[row]), Parts(a), Parts(b)));
        else
            products_.add(0, place(i, j), term_of(Parts(a), Parts(b)));
    }

    void split(const std::size_t* row, std::size_t size) {
        batch_.rows = size;
        batch_.column.clear();
        batch_.top.clear();
        batch_.apart.clear();
        parts_.clear();
        std::vector<double> rest(size);
        for (std::size_t j = first_; j < width_; ++j) {
            for (std::size_t r = 0; r < size; ++r) {
                const double value = rows_.row(row[r])[j];
                rest[r] = std::isnan(value) ? 0.0 : value;
            }
            for (std::size_t part = 0; part < most_parts && take_part(rest, j, part); ++part) continue;
            for (std::size_t r = 0; r < size; ++r)
                if (rest[r] != 0.0) batch_.apart.push_back({r, j});
        }
        std::stable_sort(batch_.apart.begin(), batch_.apart.end(),
                         [](const auto& a, const auto& b) { return a.row < b.row; });
        interleave(row);
    }

    // Move the largest values of a column, and those of similar size, to a part. Returns false, moving nothing, if
    // there are none or, after the first part, only few.
    bool take_part(std::vector<double>& rest, std::size_t j, std::size_t part) {
        int top = lowest_top - 1;
        std::size_t many = 0;
        for (const double value : rest) {
            if (value == 0.0) continue;
            const int exponent = exponent_of(value);
            if (exponent < highest_top) top = std::max(top, exponent);
            ++many;
        }
        if (top < lowest_top || (part > 0 && many * 16 < rest.size())) return false;
        const double least = std::ldexp(1.0, top - Slices::range), most = std::ldexp(1.0, top);
        const std::size_t begin = parts_.size();
        parts_.resize(begin + rest.size(), 0.0);
        for (std::size_t r = 0; r < rest.size(); ++r) {
            const double size = std::fabs(rest[r]);
            if (size < least || size > most) continue;
            parts_[begin + r] = rest[r];
            rest[r] = 0.0;
        }
        batch_.column.push_back(j);
        batch_.top.push_back(top);
        return true;
    }

    // Put the parts side by side, row after row.
    void interleave(const std::size_t* row) {
        const std::size_t many = batch_.column.size(), at_once = 2 * lanes;
        batch_.step = (many + at_once - 1) / at_once * at_once;
        auto& values = Slices::weighted ? batch_.plain : batch_.value;
        values.assign(batch_.rows * batch_.step, 0.0);
        for (std::size_t s = 0; s < many; ++s)
            for (std::size_t r = 0; r < batch_.rows; ++r) values[r * batch_.step + s] = parts_[s * batch_.rows + r];
        if constexpr (Slices::weighted) {
            batch_.value.resize(values.size());
            batch_.error.resize(values.size());
            for (std::size_t r = 0; r < batch_.rows; ++r)
                for (std::size_t at = r * batch_.step; at < (r + 1) * batch_.step; ++at)
                    multiply<false>(values[at], labels_.weight[row[r]], batch_.value[at], batch_.error[at]);
            std::frexp(labels_.weight[row[0]], &weight_top_);
            for (std::size_t r = 1; r < batch_.rows; ++r) {
                int exponent;
                std::frexp(labels_.weight[row[r]], &exponent);
                weight_top_ = std::max(weight_top_, exponent);
            }
        }
    }

    // Add the products of values that are in no part, with each other and with all other values of their row.
    void add_apart(const std::size_t* row) {
        std::vector<char> apart(width_, 0);
        for (std::size_t begin = 0, end = 0; begin < batch_.apart.size(); begin = end) {
            const std::size_t r = batch_.apart[begin].row;
            for (end = begin; end < batch_.apart.size() && batch_.apart[end].row == r; ++end)
                apart[batch_.apart[end].column] = 1;
            for (std::size_t at = begin; at < end; ++at) {
                const std::size_t j = batch_.apart[at].column;
                for (std::size_t i = first_; i < width_; ++i) {
                    if (i == j || (apart[i] && i < j) || std::min(i, j) >= last_) continue;
                    add_pair(row[r], std::min(i, j), std::max(i, j));
                }
            }
            for (std::size_t at = begin; at < end; ++at) apart[batch_.apart[at].column] = 0;
        }
    }

    NAIVELY_FUSED void add_wide() { add_parts<true>(); }

    template <bool fused>
    NAIVELY_INLINE void add_parts() {
        for (std::size_t s = 0; s < batch_.column.size() && batch_.column[s] < last_; ++s)
            for (std::size_t t = (s + 1) / lanes * lanes; t < batch_.column.size();) {
                if (!Slices::weighted && t + lanes < batch_.column.size()) {
                    add_tiles<fused, 2>(s, t);
                    t += 2 * lanes;
                } else {
                    add_tiles<fused, 1>(s, t);
                    t += lanes;
                }
            }
    }

    // Add the products of one part with some that lie side by side.
    template <bool fused, std::size_t tiles>
    NAIVELY_INLINE void add_tiles(std::size_t s, std::size_t t) {
        alignas(64) double starts[tiles][Slices::all][lanes];
        Lanes sums[tiles][Slices::all];
        for (std::size_t tile = 0; tile < tiles; ++tile)
            for (std::size_t k = 0; k < Slices::all; ++k) {
                for (std::size_t l = 0; l < lanes; ++l) starts[tile][k][l] = start(k, s, t + tile * lanes + l);
                load(sums[tile][k], starts[tile][k]);
            }
        const double* others = Slices::weighted ? batch_.plain.data() : batch_.value.data();
        const std::size_t step = batch_.step;
        for (std::size_t r = 0; r < batch_.rows; ++r) {
            Lanes a, a_error{}, b, left;
            fill(a, batch_.value[r * step + s]);
            if constexpr (Slices::weighted) fill(a_error, batch_.error[r * step + s]);
            for (std::size_t tile = 0; tile < tiles; ++tile) {
                load(b, others + r * step + t + tile * lanes);
                LaneBits finished;
                mark_all(finished);
                Slices::template add<fused>(a, a_error, b, sums[tile], finished, left);
                if (Slices::weighted && !all(finished)) [[unlikely]]
                    add_left(s, t + tile * lanes, left);
            }
        }
        for (std::size_t tile = 0; tile < tiles; ++tile)
            for (std::size_t k = 0; k < Slices::all; ++k) {
                double found[lanes];
                store(found, sums[tile][k]);
                for (std::size_t l = 0; l < lanes; ++l) add_sum(s, t + tile * lanes + l, found[l] - starts[tile][k][l]);
            }
    }

    void add_left(std::size_t s, std::size_t t, const Lanes& left) {
        for (std::size_t l = 0; l < lanes; ++l) add_sum(s, t + l, left[l]);
    }

    void add_sum(std::size_t s, std::size_t t, double sum) {
        if (sum == 0.0 || t >= batch_.column.size() || batch_.column[t] <= batch_.column[s]) return;
        products_.add(0, place(batch_.column[s], batch_.column[t]), term_of(sum));
    }

    // The start of the sum of a slice.
    double start(std::size_t k, std::size_t s, std::size_t t) const {
        if (t >= batch_.top.size()) return 0.0;
        return std::ldexp(1.5, batch_.top[s] + batch_.top[t] + weight_top_ - Slices::below[k] + 52);
    }

    const Dense<double>& rows_;
    const Labels& labels_;
    std::size_t first_, last_, width_;
    int weight_top_ = 0;
    FixedSums known_, x_, products_;
    std::vector<std::size_t> missing_;
    std::vector<double> parts_;  // the parts one after another, before they are put side by side
    Batch batch_;
};

// The rows of each class that have a weight, ordered by the size of the weight.
struct Order {
    std::vector<std::size_t> row, end_of_class;
    std::vector<int> size_of_weight;

    Order(std::size_t rows, const Labels& labels) : end_of_class(labels.classes, 0) {
        std::vector<std::vector<std::size_t>> own(labels.classes);
        for (std::size_t i = 0; i < rows; ++i)
            if (labels.weight_of(i) > 0.0) own[static_cast<std::size_t>(labels.klass[i])].push_back(i);
        for (std::size_t c = 0; c < labels.classes; ++c) {
            if (labels.weight)
                std::stable_sort(own[c].begin(), own[c].end(),
                                 [&](std::size_t a, std::size_t b) { return size_of(labels, a) < size_of(labels, b); });
            row.insert(row.end(), own[c].begin(), own[c].end());
            end_of_class[c] = row.size();
        }
        for (const std::size_t i : row) size_of_weight.push_back(size_of(labels, i));
    }

    static int size_of(const Labels& labels, std::size_t i) {
        return labels.weight ? (exponent_of(labels.weight[i]) + 1050) / weight_range : 0;
    }

    // Call use(rows, size) for rows of a class that can be added together.
    template <class Use>
    void batches(std::size_t c, Use&& use) const {
        for (std::size_t begin = c ? end_of_class[c - 1] : 0, end; begin < end_of_class[c]; begin = end) {
            for (end = begin; end < end_of_class[c] && end - begin < most_in_slices; ++end)
                if (size_of_weight[end] != size_of_weight[begin]) break;
            use(&row[begin], end - begin);
        }
    }
};

template <class Slices>
ExactNumbers count_stripes(const Dense<double>& rows, const Labels& labels, int threads) {
    const Order order(rows.rows, labels);
    const std::size_t width = rows.columns;
    const bool any_missing =
        std::any_of(rows.values, rows.values + rows.rows * width, [](double value) { return std::isnan(value); });
    threads = worth_threads(threads, rows.rows * width * width / 8);
    const std::size_t stripes = std::clamp<std::size_t>(threads > 1 ? width / 8 : 1, 1, 4);
    // later columns have fewer pairs
    const auto first_of = [&](std::size_t stripe) {
        const double left = static_cast<double>(stripes - stripe) / static_cast<double>(stripes);
        return width - static_cast<std::size_t>(static_cast<double>(width) * std::sqrt(left));
    };
    std::vector<std::array<ExactNumbers, 3>> found(labels.classes * stripes);
    for_each_task(found.size(), threads, [&](std::size_t at) {
        const std::size_t c = at / stripes, stripe = at % stripes;
        Stripe<Slices> sums(rows, labels, first_of(stripe), first_of(stripe + 1), any_missing);
        order.batches(c, [&](const std::size_t* row, std::size_t size) { sums.add(row, size); });
        sums.push(found[at]);
    });
    ExactNumbers result;
    for (std::size_t which = 0; which < 3; ++which)
        for (const auto& part : found) result.append(part[which]);
    return result;
}

}  // namespace

ExactNumbers count_products_exactly(const Dense<double>& rows, const Labels& given, int threads) {
    if (!given.weight) return count_stripes<PairSlices>(rows, given, threads);
    std::vector<double> weight(rows.rows);
    std::transform(given.weight, given.weight + rows.rows, weight.begin(), counted_weight);
    Labels labels = given;
    labels.weight = weight.data();
    return count_stripes<WeightedPairSlices>(rows, labels, threads);
}

}  // namespace naively
