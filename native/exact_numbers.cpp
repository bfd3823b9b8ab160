#include "exact_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fixed_sums.hpp"
#include "parallel.hpp"

namespace naively {
namespace {

constexpr Digit top_bit = Digit{1} << 63;

// Where the digits of each number begin, and where those of the last end.
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

// A number without its sign, in digits of 32 bits; the first is worth 2^(32 * low).
struct Magnitude {
    static constexpr std::size_t room = 4 * most_digits + 8;
    std::uint32_t digit[room];
    std::size_t size = 0;
    int low = 0;

    void trim() {
        while (size && digit[size - 1] == 0) --size;
    }
    std::size_t bits() const {
        return size ? 32 * size - static_cast<std::size_t>(std::countl_zero(digit[size - 1])) : 0;
    }
};

void set(Magnitude& to, const Number& number) {
    to.low = 2 * number.low;
    to.size = 0;
    const bool negative = number.negative();
    Digit carry = negative ? 1 : 0;
    for (int place = number.low; place < number.end; ++place) {
        Digit d = number.digits[place - number.low];
        if (negative) {
            d = ~d + carry;
            carry = carry && d == 0;
        }
        to.digit[to.size++] = static_cast<std::uint32_t>(d);
        to.digit[to.size++] = static_cast<std::uint32_t>(d >> 32);
    }
    to.trim();
}

// Both must come from single numbers, so that the product has room.
void multiply(Magnitude& to, const Magnitude& a, const Magnitude& b) {
    to.low = a.low + b.low;
    to.size = a.size + b.size;
    std::fill_n(to.digit, to.size, 0u);
    for (std::size_t i = 0; i < a.size; ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < b.size; ++j) {
            carry += static_cast<std::uint64_t>(a.digit[i]) * b.digit[j] + to.digit[i + j];
            to.digit[i + j] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        to.digit[i + b.size] = static_cast<std::uint32_t>(carry);
    }
    to.trim();
}

std::uint32_t digit_at(const Magnitude& number, int place) {
    const int at = place - number.low;
    return at < 0 || at >= static_cast<int>(number.size) ? 0 : number.digit[at];
}

// a - b, or false where that is negative.
bool subtract(Magnitude& to, const Magnitude& a, const Magnitude& b) {
    if (b.size == 0) {
        to = a;
        return true;
    }
    to.low = a.size ? std::min(a.low, b.low) : b.low;
    const int end = std::max(a.low + static_cast<int>(a.size), b.low + static_cast<int>(b.size));
    to.size = 0;
    std::int64_t carry = 0;
    for (int place = to.low; place < end; ++place) {
        carry += static_cast<std::int64_t>(digit_at(a, place)) - static_cast<std::int64_t>(digit_at(b, place));
        to.digit[to.size++] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    to.trim();
    return carry == 0;
}

// The double nearest to (bits + a little if `more`) * 2^exponent, where bits has its top bit set.
double nearest(std::uint64_t bits, bool more, int exponent) {
    const int drop = std::max(11, -1074 - exponent);
    if (drop > 64) return 0.0;
    std::uint64_t kept = drop == 64 ? 0 : bits >> drop;
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rest = drop == 64 ? bits : bits & (2 * half - 1);
    if (rest > half || (rest == half && (more || (kept & 1)))) ++kept;
    const int scale = exponent + drop;
    if (scale < -1000 || scale > 900) return std::ldexp(static_cast<double>(kept), scale);
    return static_cast<double>(kept) * std::bit_cast<double>(static_cast<std::uint64_t>(scale + 1023) << 52);
}

// The same for all bits of a number, which is not zero.
double nearest(const Magnitude& number, bool more, int exponent) {
    const std::size_t lost = number.bits() > 64 ? number.bits() - 64 : 0;
    std::uint64_t bits = 0;
    for (std::size_t i = number.size; i-- > 0;) {
        const auto shift = static_cast<std::int64_t>(32 * i) - static_cast<std::int64_t>(lost);
        const std::uint64_t digit = number.digit[i];
        if (shift >= 0) {
            bits |= digit << shift;
        } else if (shift > -32) {
            bits |= digit >> -shift;
            more = more || (digit & ((std::uint64_t{1} << -shift) - 1));
        } else {
            more = more || digit;
        }
    }
    const int up = std::countl_zero(bits);
    return nearest(bits << up, more, exponent + 32 * number.low + static_cast<int>(lost) - up);
}

// number * 2^bits, or without the last -bits bits, of which `more` tells if any was set.
void shift(Magnitude& number, int bits, bool& more) {
    if (bits >= 0) {
        const auto whole = static_cast<std::size_t>(bits / 32);
        const unsigned part = static_cast<unsigned>(bits % 32);
        number.digit[number.size] = 0;
        for (std::size_t i = number.size + 1; i-- > 0;) {
            const std::uint64_t pair =
                (static_cast<std::uint64_t>(number.digit[i]) << 32) | (i ? number.digit[i - 1] : 0);
            number.digit[i + whole] = static_cast<std::uint32_t>((pair << part) >> 32);
        }
        std::fill_n(number.digit, whole, 0u);
        number.size += whole + 1;
    } else {
        const auto whole = static_cast<std::size_t>(-bits / 32);
        const unsigned part = static_cast<unsigned>(-bits % 32);
        for (std::size_t i = 0; i < whole; ++i) more = more || number.digit[i];
        more = more || (number.digit[whole] & ((std::uint64_t{1} << part) - 1));
        for (std::size_t i = whole; i < number.size; ++i) {
            const std::uint64_t next = i + 1 < number.size ? number.digit[i + 1] : 0;
            number.digit[i - whole] = static_cast<std::uint32_t>(((next << 32) | number.digit[i]) >> part);
        }
        number.size -= whole;
    }
    number.trim();
}

// Divides `rest` by `by`, whose top bit is set, digit after digit; the quotient is written to `quotient`, and `rest` is
// what remains.
void divide(Magnitude& quotient, Magnitude& rest, const Magnitude& by) {
    rest.digit[rest.size] = 0;
    quotient.size = rest.size >= by.size ? rest.size - by.size + 1 : 0;
    const double inverse = 1.0 / static_cast<double>(by.digit[by.size - 1]);
    for (std::size_t at = quotient.size; at-- > 0;) {
        std::uint32_t* top = rest.digit + at + by.size;  // the digit above those that are divided
        const std::uint64_t two = (static_cast<std::uint64_t>(top[0]) << 32) | top[-1];
        // A little more than the quotient of the first digits, whatever has been rounded.
        auto guess = static_cast<std::uint64_t>(std::min(static_cast<double>(two) * inverse + 0x1p-18, 4294967295.0));
        std::int64_t borrow = 0;
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < by.size; ++i) {
            carry += guess * by.digit[i];
            borrow += static_cast<std::int64_t>(rest.digit[at + i]) - static_cast<std::int64_t>(carry & 0xffffffffu);
            rest.digit[at + i] = static_cast<std::uint32_t>(borrow);
            borrow >>= 32;
            carry >>= 32;
        }
        borrow += static_cast<std::int64_t>(top[0]) - static_cast<std::int64_t>(carry);
        top[0] = static_cast<std::uint32_t>(borrow);
        while (top[0]) {  // the guess was too large
            --guess;
            std::uint64_t sum = 0;
            for (std::size_t i = 0; i < by.size; ++i) {
                sum += static_cast<std::uint64_t>(rest.digit[at + i]) + by.digit[i];
                rest.digit[at + i] = static_cast<std::uint32_t>(sum);
                sum >>= 32;
            }
            top[0] += static_cast<std::uint32_t>(sum);
        }
        quotient.digit[at] = static_cast<std::uint32_t>(guess);
    }
    quotient.trim();
    rest.trim();
}

// The double nearest to number / by; both are used up.
double nearest_ratio(Magnitude& number, Magnitude& by) {
    if (number.size == 0) return 0.0;
    bool more = false;
    const int exponent = 32 * (number.low - by.low);
    const int up = std::countl_zero(by.digit[by.size - 1]);
    shift(by, up, more);
    const int places = static_cast<int>(by.bits()) + 66 - static_cast<int>(number.bits());  // 66 or 67 bits are wanted
    shift(number, places, more);
    Magnitude quotient;
    quotient.low = 0;
    divide(quotient, number, by);
    return nearest(quotient, more || number.size, exponent + up - places);
}

void check_equal(const ExactView& a, const ExactView& b) {
    if (a.size != b.size) throw std::invalid_argument("exact numbers differ in length");
}

// Calls use(first, last) for runs of numbers, on several threads.
template <class Use>
void in_runs(std::size_t size, int threads, Use&& use) {
    constexpr std::size_t run = 4096;
    for_each_task((size + run - 1) / run, threads, [&](std::size_t i) { use(i * run, std::min(size, (i + 1) * run)); });
}

double mean_of(const Number& n, const Number& x) {
    if (n.zero() || n.negative()) return 0.0;
    Magnitude top, bottom;
    set(top, x);
    set(bottom, n);
    const double mean = nearest_ratio(top, bottom);
    return x.negative() ? -mean : mean;
}

double variance_of(const Number& n, const Number& x, const Number& squares) {
    if (n.zero() || n.negative()) return 0.0;
    if (squares.negative()) return std::numeric_limits<double>::quiet_NaN();
    Magnitude many, sum, square, left, right, top;
    set(many, n);
    set(sum, x);
    set(square, squares);
    multiply(left, many, square);
    multiply(right, sum, sum);
    if (!subtract(top, left, right)) return std::numeric_limits<double>::quiet_NaN();
    multiply(right, many, many);
    return nearest_ratio(top, right);
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

ExactNumbers totals(const ExactView& numbers, std::size_t outer, std::size_t middle, std::size_t inner) {
    const std::vector<std::size_t> starts = starts_of(numbers);
    ExactNumbers result;
    result.reserve(outer * inner);
    for (std::size_t o = 0; o < outer; ++o) {
        for (std::size_t i = 0; i < inner; ++i) {
            FixedSum sum;
            for (std::size_t m = 0; m < middle; ++m) {
                const std::size_t at = (o * middle + m) * inner + i;
                sum.add(numbers.digits + starts[at], numbers.length[at], numbers.place[at]);
            }
            result.push(sum.digits(), sum.size(), sum.low());
        }
    }
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
        result[i] = nearest(magnitude, false, 0);
        if (number.negative()) result[i] = -result[i];
    }
    return result;
}

std::vector<double> means(const ExactView& n, const ExactView& x, int threads) {
    check_equal(n, x);
    const auto n_starts = starts_of(n), x_starts = starts_of(x);
    std::vector<double> result(n.size);
    in_runs(n.size, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            result[i] = mean_of(Number(n, i, n_starts[i]), Number(x, i, x_starts[i]));
    });
    return result;
}

std::vector<double> variances(const ExactView& n, const ExactView& x, const ExactView& squares, int threads) {
    check_equal(n, x);
    check_equal(n, squares);
    const auto n_starts = starts_of(n), x_starts = starts_of(x), square_starts = starts_of(squares);
    std::vector<double> result(n.size);
    in_runs(n.size, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            result[i] =
                variance_of(Number(n, i, n_starts[i]), Number(x, i, x_starts[i]), Number(squares, i, square_starts[i]));
    });
    return result;
}

}  // namespace naively
