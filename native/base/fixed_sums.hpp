// FixedSum and FixedSums: sums of doubles with as many digits as the added numbers need.
// Nothing is rounded, so a sum does not depend on the order of its terms.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/exact_numbers.hpp"
#include "base/wide.hpp"

namespace naively {

struct Product {
    Digit low, high;
};

NAIVELY_INLINE Product multiplied(Digit a, Digit b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<Digit>(product), static_cast<Digit>(product >> 64)};
#else
    constexpr Digit half = 0xffffffffu;
    const Digit low = (a & half) * (b & half), left = (a >> 32) * (b & half), right = (a & half) * (b >> 32);
    const Digit middle = (low >> 32) + (left & half) + (right & half);
    return {(middle << 32) | (low & half), (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (middle >> 32)};
#endif
}

// A finite double as a whole number times 2^exponent.
struct Parts {
    Digit whole;
    int exponent;
    bool negative;

    explicit Parts(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int biased = static_cast<int>((bits >> 52) & 0x7ff);
        whole = (bits & ((std::uint64_t{1} << 52) - 1)) | (biased ? std::uint64_t{1} << 52 : 0);
        exponent = std::max(biased, 1) - 1075;
        negative = bits >> 63;
    }
};

// A term that is not zero: its digits without the sign, the first of them at place `low`.
template <std::size_t size>
struct Term {
    Digit digit[size];
    int low;
    Digit sign;  // all bits are set if the term is negative
};

// Build a term from the digits of a whole number and an exponent of two.
template <class... Digits>
NAIVELY_INLINE Term<sizeof...(Digits) + 1> term_of(int exponent, bool negative, Digits... digits) {
    constexpr std::size_t given = sizeof...(Digits);
    const Digit whole[given] = {digits...};
    const int up = exponent & 63, down = 63 - up;
    Term<given + 1> term;
    term.digit[0] = whole[0] << up;
    for (std::size_t i = 1; i < given; ++i) term.digit[i] = (whole[i] << up) | (whole[i - 1] >> 1 >> down);
    term.digit[given] = whole[given - 1] >> 1 >> down;
    term.low = exponent >> 6;
    term.sign = negative ? ~Digit{0} : 0;
    return term;
}

NAIVELY_INLINE Term<2> term_of(const Parts& x) { return term_of(x.exponent, x.negative, x.whole); }
NAIVELY_INLINE Term<2> term_of(double x) { return term_of(Parts(x)); }

NAIVELY_INLINE Term<3> term_of(const Parts& a, const Parts& b) {
    const Product product = multiplied(a.whole, b.whole);
    return term_of(a.exponent + b.exponent, a.negative != b.negative, product.low, product.high);
}

NAIVELY_INLINE Term<4> term_of(const Parts& a, const Parts& b, const Parts& c) {
    const Product two = multiplied(a.whole, b.whole);
    const Product low = multiplied(two.low, c.whole), high = multiplied(two.high, c.whole);
    const Digit middle = low.high + high.low;
    return term_of(a.exponent + b.exponent + c.exponent, (a.negative != b.negative) != c.negative, low.low, middle,
                   high.high + (middle < low.high));
}

// a + b + carry; `carry` becomes 1 if the sum overflows, else 0.
NAIVELY_INLINE Digit add_digits(Digit a, Digit b, Digit& carry) {
    const Digit sum = a + b, both = sum + carry;
    carry = (sum < a) | (both < sum);
    return both;
}

// Add a term to digits in two's complement: `to` points to the digit at the term's place, `end` behind the last digit.
template <std::size_t size>
NAIVELY_INLINE void add_term(Digit* to, const Digit* end, const Term<size>& term) {
    Digit carry = term.sign & 1;
    for (std::size_t i = 0; i < size; ++i) to[i] = add_digits(to[i], term.digit[i] ^ term.sign, carry);
    for (to += size; carry != (term.sign & 1) && to != end; ++to) *to = add_digits(*to, term.sign, carry);
}

// One exact sum, which grows by the digits that its terms need.
class FixedSum {
   public:
    const Digit* digits() const { return &digit_[index(low_)]; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - low_); }
    int low() const { return low_; }

    template <std::size_t size>
    void add(const Term<size>& term) {
        extend(term.low, term.low + static_cast<int>(size));
        add_term(&digit_[index(term.low)], &digit_[index(end_)], term);
    }

    // Add a number given by its digits in two's complement.
    void add(const Digit* digits, std::size_t size, int low) {
        if (size == 0) return;
        const int end = low + static_cast<int>(size);
        extend(low, end);
        const Digit beyond = digits[size - 1] >> 63 ? ~Digit{0} : 0;
        Digit carry = 0;
        for (int place = low; place < end_; ++place) {
            Digit& left = digit_[index(place)];
            left = add_digits(left, place < end ? digits[place - low] : beyond, carry);
        }
    }

   private:
    static constexpr int margin = 3;
    static std::size_t index(int place) { return static_cast<std::size_t>(place - lowest_place + margin); }

    // Make room for a number at these places and for its carry.
    void extend(int low, int end) {
        if (low_ == end_) low_ = end_ = low;
        const Digit top = low_ == end_ ? 0 : digit_[index(end_ - 1)];
        const Digit sign = top >> 63 ? ~Digit{0} : 0;
        const int wanted = std::max(end, top == sign ? end_ - 1 : end_) + 1;
        if (low < lowest_place || wanted > end_of_places + margin)
            throw std::overflow_error("a sum has more digits than there is room for");
        for (; end_ < wanted; ++end_) digit_[index(end_)] = sign;
        for (; low_ > low; --low_) digit_[index(low_ - 1)] = 0;
    }

    Digit digit_[most_digits + 2 * margin];
    int low_ = 0, end_ = 0;
};

// A sum for each class and column. All sums of one column have digits at the same places.
class FixedSums {
   public:
    FixedSums() = default;
    FixedSums(std::size_t classes, std::size_t columns) : classes_(classes), columns_(columns) {}

    template <std::size_t size>
    NAIVELY_INLINE void add(std::size_t klass, std::size_t column, const Term<size>& term) {
        constexpr int n_digits = static_cast<int>(size);
        Column& to = columns_[column];
        if (term.low < to.low || term.low + n_digits >= to.end) extend(to, term.low, term.low + n_digits + 1);
        Digit* sum = &to.digits[klass * to.size()];
        add_term(sum + (term.low - to.low), sum + to.size(), term);
    }

    // Add the sums of `other`; its first column corresponds to column `first` here.
    void add(const FixedSums& other, std::size_t first) {
        for (std::size_t j = 0; j < other.columns_.size(); ++j) {
            const Column& from = other.columns_[j];
            Column& to = columns_[first + j];
            if (from.digits.empty()) continue;
            if (to.digits.empty()) {
                to = from;
                continue;
            }
            extend(to, from.low, from.end);
            for (std::size_t c = 0; c < classes_; ++c) add_sum(to, &to.digits[c * to.size()], from, c);
        }
    }

    // Add a sum per class to the sums of every column.
    void add_to_all(const FixedSums& one) {
        for (std::size_t j = 0; j < columns_.size(); ++j) add(one, j);
    }

    void push(ExactNumbers& to, std::size_t klass, std::size_t column) const {
        const Column& from = columns_[column];
        if (from.digits.empty())
            to.push_zero();
        else
            to.push(&from.digits[klass * from.size()], from.size(), from.low);
    }

    std::size_t columns() const { return columns_.size(); }

   private:
    // The last digit of every sum is spare, for the sign and for carries: room for 2^63 terms.
    struct Column {
        int low = 0, end = 0;
        std::vector<Digit> digits;
        std::size_t size() const { return static_cast<std::size_t>(end - low); }
    };

    void extend(Column& column, int low, int end) {
        Column wider;
        const bool empty = column.digits.empty();
        wider.low = empty ? low : std::min(low, column.low);
        wider.end = empty ? end : std::max(end, column.end);
        if (!empty && wider.low == column.low && wider.end == column.end) return;
        wider.digits.assign(classes_ * wider.size(), 0);
        for (std::size_t c = 0; c < classes_ && !empty; ++c) {
            const Digit* from = &column.digits[c * column.size()];
            Digit* to = &wider.digits[c * wider.size()] + (column.low - wider.low);
            to = std::copy_n(from, column.size(), to);
            if (from[column.size() - 1] >> 63) std::fill(to, &wider.digits[c * wider.size()] + wider.size(), ~Digit{0});
        }
        column = std::move(wider);
    }

    static void add_sum(const Column& column, Digit* to, const Column& other, std::size_t klass) {
        const Digit* from = &other.digits[klass * other.size()];
        const Digit beyond = from[other.size() - 1] >> 63 ? ~Digit{0} : 0;
        Digit carry = 0;
        for (int place = other.low; place < column.end; ++place) {
            Digit& left = to[place - column.low];
            left = add_digits(left, place < other.end ? from[place - other.low] : beyond, carry);
        }
    }

    std::size_t classes_ = 0;
    std::vector<Column> columns_;
};

}  // namespace naively
