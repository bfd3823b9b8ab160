#include "base/exact_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/fixed_sums.hpp"
#include "base/parallel.hpp"
#include "base/slices.hpp"

namespace naively {
namespace {

constexpr Digit top_bit = Digit{1} << 63;

// The index of each number's first digit, and the number of all digits.
std::vector<std::size_t> starts_of(const ExactView& numbers) {
    std::vector<std::size_t> starts(numbers.size + 1, 0);
    for (std::size_t i = 0; i < numbers.size; ++i) starts[i + 1] = starts[i] + numbers.length[i];
    return starts;
}

// One number of a view.
struct Number {
    const Digit* digits;
    int low, end;

    Number(const ExactView& numbers, std::size_t i, std::size_t start)
        : digits(numbers.digits + start), low(numbers.place[i]), end(low + numbers.length[i]) {}

    bool zero() const { return low == end; }
    bool negative() const { return !zero() && (digits[end - low - 1] & top_bit); }
    Digit at(int place) const {
        if (place < low) return 0;
        if (place >= end) return negative() ? ~Digit{0} : 0;
        return digits[place - low];
    }
};

// A number without its sign; its first digit is worth 2^(64 * low).
struct Magnitude {
    static constexpr std::size_t room = 2 * most_digits + 2;
    Digit digit[room];
    std::size_t size = 0;
    int low = 0;

    void trim() {
        while (size && digit[size - 1] == 0) --size;
    }
    // top(): the power of two above all digits; up(): the number of zero bits above the first set bit.
    int top() const { return 64 * (low + static_cast<int>(size)); }
    int up() const { return std::countl_zero(digit[size - 1]); }
    Digit at(int place) const {
        const int i = place - low;
        return i < 0 || i >= static_cast<int>(size) ? 0 : digit[i];
    }
};

void set(Magnitude& to, const Number& number) {
    to.low = number.low;
    to.size = static_cast<std::size_t>(number.end - number.low);
    const Digit sign = number.negative() ? ~Digit{0} : 0;
    Digit carry = sign & 1;
    for (std::size_t i = 0; i < to.size; ++i) to.digit[i] = add_digits(number.digits[i] ^ sign, 0, carry);
    to.trim();
}

// to = a * b; both must come from single numbers, so that the product has room.
void multiply(Magnitude& to, const Magnitude& a, const Magnitude& b) {
    to.low = a.low + b.low;
    to.size = a.size + b.size;
    std::fill_n(to.digit, to.size, Digit{0});
    for (std::size_t i = 0; i < a.size; ++i) {
        Digit over = 0;  // carry from the digit before
        for (std::size_t j = 0; j < b.size; ++j) {
            const Product product = multiplied(a.digit[i], b.digit[j]);
            Digit carry = 0;
            const Digit sum = add_digits(product.low, over, carry);
            over = product.high + carry;
            carry = 0;
            to.digit[i + j] = add_digits(to.digit[i + j], sum, carry);
            over += carry;
        }
        to.digit[i + b.size] = over;
    }
    to.trim();
}

// to = a - b; returns false if that is negative.
bool subtract(Magnitude& to, const Magnitude& a, const Magnitude& b) {
    if (b.size == 0) {
        to = a;
        return true;
    }
    to.low = a.size ? std::min(a.low, b.low) : b.low;
    const int end = std::max(a.low + static_cast<int>(a.size), b.low + static_cast<int>(b.size));
    to.size = 0;
    Digit carry = 1;
    for (int place = to.low; place < end; ++place) to.digit[to.size++] = add_digits(a.at(place), ~b.at(place), carry);
    to.trim();
    return carry == 1;
}

// to = a + b.
void add(Magnitude& to, const Magnitude& a, const Magnitude& b) {
    to.low = std::min(a.size ? a.low : b.low, b.size ? b.low : a.low);
    const int end = std::max(a.low + static_cast<int>(a.size), b.low + static_cast<int>(b.size)) + 1;
    to.size = 0;
    Digit carry = 0;
    for (int place = to.low; place < end; ++place) to.digit[to.size++] = add_digits(a.at(place), b.at(place), carry);
    to.trim();
}

// The double nearest to (bits, plus a little if `more`) * 2^exponent; the top bit of `bits` must be set.
double nearest(Digit bits, bool more, int exponent) {
    const int drop = std::max(11, -1074 - exponent);
    if (drop > 64) return 0.0;
    Digit kept = drop == 64 ? 0 : bits >> drop;
    const Digit half = Digit{1} << (drop - 1);
    const Digit rest = drop == 64 ? bits : bits & (2 * half - 1);
    if (rest > half || (rest == half && (more || (kept & 1)))) ++kept;
    const int scale = exponent + drop;
    if (scale < -1000 || scale > 900) return std::ldexp(static_cast<double>(kept), scale);
    return static_cast<double>(kept) * std::bit_cast<double>(static_cast<Digit>(scale + 1023) << 52);
}

// The 128 bits of a number, which must not be zero, from its first set bit on.
Product leading(const Magnitude& number) {
    const int up = number.up(), last = number.low + static_cast<int>(number.size) - 1;
    const Digit first = number.at(last), second = number.at(last - 1), third = number.at(last - 2);
    if (up == 0) return {second, first};
    return {(second << up) | (third >> (64 - up)), (first << up) | (second >> (64 - up))};
}

// The double nearest to a number, which must not be zero.
double nearest(const Magnitude& number) {
    const Product bits = leading(number);
    bool more = bits.low;
    for (std::size_t i = 0; i + 2 < number.size; ++i) more |= number.digit[i] != 0;
    return nearest(bits.high, more, number.top() - number.up() - 64);
}

// Shift the number until its first bit is set, and fill it with zero digits below up to `size` digits.
void normalize(Magnitude& number, std::size_t size) {
    const int up = number.up();
    std::copy_backward(number.digit, number.digit + number.size, number.digit + size);
    std::fill_n(number.digit, size - number.size, Digit{0});
    number.low -= static_cast<int>(size - number.size);
    number.size = size;
    for (std::size_t i = size; up && i-- > 0;)
        number.digit[i] = (number.digit[i] << up) | (i ? number.digit[i - 1] >> (64 - up) : 0);
}

// The double nearest to number / by, found bit by bit; changes both.
double nearest_by_bits(Magnitude& number, Magnitude& by) {
    const int exponent = number.top() - number.up() - by.top() + by.up();
    const std::size_t size = std::max(number.size, by.size);
    normalize(number, size);
    normalize(by, size);
    Digit bits = 0, beyond = 0, *rest = number.digit;
    for (int bit = 0; bit < 64; ++bit) {
        Digit left[Magnitude::room], carry = 1;
        for (std::size_t i = 0; i < size; ++i) left[i] = add_digits(rest[i], ~by.digit[i], carry);
        const bool fits = beyond || carry;
        if (fits) std::copy_n(left, size, rest);
        bits = (bits << 1) | Digit{fits};
        beyond = rest[size - 1] >> 63;
        for (std::size_t i = size; i-- > 0;) rest[i] = (rest[i] << 1) | (i ? rest[i - 1] >> 63 : 0);
    }
    const bool more = beyond || std::any_of(rest, rest + size, [](Digit digit) { return digit != 0; });
    const int up = std::countl_zero(bits);
    return nearest(bits << up, more, exponent - 63 - up);
}

// The leading 106 bits of a number, as high + low.
struct Double2 {
    double high, low;
    explicit Double2(const Magnitude& number) {
        const Product bits = leading(number);
        high = static_cast<double>(bits.high >> 11);
        low = static_cast<double>(((bits.high & 2047) << 42) | (bits.low >> 22)) * 0x1p-53;
    }
};

// The double nearest to number / by; changes both. A quotient of 100 bits decides the rounding, unless it is too near
// to the middle between two doubles.
double nearest_ratio(Magnitude& number, Magnitude& by) {
    if (number.size == 0) return 0.0;
    const int exponent = number.top() - number.up() - by.top() + by.up();
    const Double2 a(number), b(by);
    double product, error;
    const double first = a.high / b.high;
    naively::multiply<false>(first, b.high, product, error);
    const double second = (((a.high - product) - error) + (a.low - first * b.low)) / b.high;
    const double ratio = first + second, left = second - (ratio - first);
    constexpr double unsure = 0x1p-98;
    const bool sure = ratio + (left + unsure) == ratio && ratio + (left - unsure) == ratio;
    if (!sure || exponent < -1000 || exponent > 1000) return nearest_by_bits(number, by);
    return ratio * std::bit_cast<double>(static_cast<Digit>(exponent + 1023) << 52);
}

void check_equal(const ExactView& a, const ExactView& b) {
    if (a.size != b.size) throw std::invalid_argument("exact numbers differ in length");
}

// Call use(first, last) for runs of numbers, on several threads.
template <class Use>
void in_runs(std::size_t size, int threads, Use&& use) {
    constexpr std::size_t run = 4096;
    for_each_task((size + run - 1) / run, threads, [&](std::size_t i) { use(i * run, std::min(size, (i + 1) * run)); });
}

// Computes count, mean and variance from the sums of one class and column.
class OneMoments {
   public:
    OneMoments(const Number& n, const Number& x, const Number& squares)
        : none_(n.zero() || n.negative()), below_(x.negative()), wrong_(squares.negative()) {
        if (none_) return;
        set(n_, n);
        set(x_, x);
        set(squares_, squares);
    }

    double n() const { return none_ ? 0.0 : nearest(n_); }

    double mean() const {
        if (none_) return 0.0;
        Magnitude top = x_, bottom = n_;
        const double mean = nearest_ratio(top, bottom);
        return below_ ? -mean : mean;
    }

    double variance() const {
        if (none_) return 0.0;
        Magnitude left, right, top;
        multiply(left, n_, squares_);
        multiply(right, x_, x_);
        if (wrong_ || !subtract(top, left, right)) return std::numeric_limits<double>::quiet_NaN();
        multiply(right, n_, n_);
        return nearest_ratio(top, right);
    }

   private:
    bool none_, below_, wrong_;
    Magnitude n_, x_, squares_;
};

// (n * products - x * y) / (n * n)
double covariance_of(const Number& n, const Number& x, const Number& y, const Number& products) {
    if (n.zero() || n.negative()) return 0.0;
    Magnitude a, b, left, right, top;
    set(a, n);
    set(b, products);
    multiply(left, a, b);
    multiply(right, a, a);
    const Magnitude bottom = right;
    set(a, x);
    set(b, y);
    multiply(right, a, b);
    bool below = products.negative();
    if (below != (x.negative() != y.negative())) {
        add(top, left, right);
    } else if (!subtract(top, left, right)) {
        below = !below;
        subtract(top, right, left);
    }
    Magnitude by = bottom;
    const double size = nearest_ratio(top, by);
    return below && size > 0.0 ? -size : size;
}

}  // namespace

void ExactNumbers::push(const Digit* given, std::size_t size, int low) {
    while (size && given[0] == 0) {
        ++given;
        ++low;
        --size;
    }
    while (size > 1 && ((given[size - 1] == 0 && !(given[size - 2] & top_bit)) ||
                        (given[size - 1] == ~Digit{0} && (given[size - 2] & top_bit))))
        --size;
    if (size && (low < lowest_place || low + static_cast<int>(size) > end_of_places))
        throw std::overflow_error("a sum has more digits than there is room for");
    place.push_back(static_cast<std::int8_t>(size ? low : 0));
    length.push_back(static_cast<std::uint8_t>(size));
    digits.insert(digits.end(), given, given + size);
}

bool well_formed(const ExactView& numbers) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers.size; ++i) {
        const std::size_t size = numbers.length[i];
        if (size > numbers.digits_size - at) return false;
        const int low = numbers.place[i];
        if (size == 0 && low != 0) return false;
        if (size && (low < lowest_place || low + static_cast<int>(size) > end_of_places)) return false;
        ExactNumbers again;
        again.push(numbers.digits + at, size, low);
        if (again.length[0] != size) return false;
        at += size;
    }
    return at == numbers.digits_size;
}

ExactNumbers added(const ExactView& a, const ExactView& b, bool subtract) {
    check_equal(a, b);
    ExactNumbers result;
    result.reserve(a.size);
    Digit digits[most_digits + 1];
    std::size_t at_a = 0, at_b = 0;
    for (std::size_t i = 0; i < a.size; at_a += a.length[i], at_b += b.length[i], ++i) {
        const Number x(a, i, at_a), y(b, i, at_b);
        const int low = x.zero() ? y.low : y.zero() ? x.low : std::min(x.low, y.low);
        const int end = x.zero() ? y.end : y.zero() ? x.end : std::max(x.end, y.end);
        Digit carry = subtract ? 1 : 0;
        std::size_t size = 0;
        for (int place = low; place <= end && !(x.zero() && y.zero()); ++place) {
            digits[size++] = add_digits(x.at(place), subtract ? ~y.at(place) : y.at(place), carry);
        }
        result.push(digits, size, low);
    }
    return result;
}

ExactNumbers taken(const ExactView& numbers, const std::int64_t* index, std::size_t size) {
    const std::vector<std::size_t> starts = starts_of(numbers);
    ExactNumbers result;
    result.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        if (index[i] < 0) {
            result.push_zero();
            continue;
        }
        const auto at = static_cast<std::size_t>(index[i]);
        if (at >= numbers.size) throw std::out_of_range("an index is out of range");
        result.push(numbers.digits + starts[at], numbers.length[at], numbers.place[at]);
    }
    return result;
}

ExactNumbers totals(const ExactView& numbers, std::size_t outer, std::size_t middle, std::size_t inner, int threads) {
    constexpr std::size_t run = 256;
    const std::vector<std::size_t> starts = starts_of(numbers);
    const std::size_t runs = (inner + run - 1) / run;
    std::vector<ExactNumbers> parts(outer * runs);
    for_each_task(parts.size(), worth_threads(threads, 4 * numbers.size), [&](std::size_t at) {
        const std::size_t begin = at % runs * run, n_sums = std::min(run, inner - begin);
        std::vector<FixedSum> sums(n_sums);
        for (std::size_t m = 0; m < middle; ++m) {
            const std::size_t first = (at / runs * middle + m) * inner + begin;
            for (std::size_t i = 0; i < n_sums; ++i)
                sums[i].add(numbers.digits + starts[first + i], numbers.length[first + i], numbers.place[first + i]);
        }
        parts[at].reserve(n_sums);
        for (const FixedSum& sum : sums) parts[at].push(sum.digits(), sum.size(), sum.low());
    });
    ExactNumbers result;
    result.reserve(outer * inner);
    for (const ExactNumbers& part : parts) result.append(part);
    return result;
}

ExactNumbers exactly(const double* values, std::size_t size) {
    ExactNumbers result;
    result.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        FixedSum sum;
        if (values[i] != 0.0) sum.add(term_of(values[i]));
        result.push(sum.digits(), sum.size(), sum.low());
    }
    return result;
}

std::vector<std::int8_t> signs(const ExactView& numbers) {
    std::vector<std::int8_t> result(numbers.size);
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers.size; at += numbers.length[i], ++i) {
        const Number number(numbers, i, at);
        result[i] = number.zero() ? 0 : number.negative() ? -1 : 1;
    }
    return result;
}

std::vector<double> rounded(const ExactView& numbers) {
    std::vector<double> result(numbers.size, 0.0);
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers.size; at += numbers.length[i], ++i) {
        const Number number(numbers, i, at);
        if (number.zero()) continue;
        Magnitude magnitude;
        set(magnitude, number);
        result[i] = number.negative() ? -nearest(magnitude) : nearest(magnitude);
    }
    return result;
}

Moments moments_of(const ExactView& sums, int threads) {
    const std::size_t size = sums.size / 3;
    const std::vector<std::size_t> starts = starts_of(sums);
    const auto number = [&](std::size_t i) { return Number(sums, i, starts[i]); };
    Moments result;
    for (auto* values : {&result.n, &result.mean, &result.variance}) values->resize(size);
    in_runs(size, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const OneMoments one(number(i), number(size + i), number(2 * size + i));
            result.n[i] = one.n();
            result.mean[i] = one.mean();
            result.variance[i] = one.variance();
        }
    });
    return result;
}

std::vector<double> covariances_of(const ExactView& sums, int threads) {
    const std::size_t size = sums.size / 4;
    const std::vector<std::size_t> starts = starts_of(sums);
    const auto number = [&](std::size_t i) { return Number(sums, i, starts[i]); };
    std::vector<double> result(size);
    in_runs(size, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            result[i] = covariance_of(number(i), number(size + i), number(2 * size + i), number(3 * size + i));
    });
    return result;
}

}  // namespace naively
