#include "columns/encode.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/hash.hpp"
#include "text/text_codes.hpp"

namespace naively {
namespace {

// A hash with a random key, so that nobody can choose records that collide. Numbers need no loop.
std::uint64_t hash_record(const std::uint8_t* record, std::size_t width) {
    const char* bytes = reinterpret_cast<const char*>(record);
    if (width == 8) return hash_number(load_eight(bytes), process_seed);
    return hash_bytes(bytes, width, load_head(bytes, width), process_seed);
}

}  // namespace

std::vector<std::int64_t> encode_records(const std::uint8_t* records, std::size_t count, std::size_t width,
                                         std::int32_t* codes) {
    std::vector<std::int64_t> firsts;
    std::vector<std::int32_t> slots(1024, -1);  // large enough that a few labels rarely collide
    std::vector<std::uint64_t> hashes;
    const auto record_at = [&](std::size_t i) { return records + i * width; };
    const auto grow = [&] {
        std::vector<std::int32_t> wider(slots.size() * 2, -1);
        const std::size_t mask = wider.size() - 1;
        for (std::size_t code = 0; code < hashes.size(); ++code) {
            std::size_t slot = hashes[code] & mask;
            while (wider[slot] >= 0) slot = (slot + 1) & mask;
            wider[slot] = static_cast<std::int32_t>(code);
        }
        slots.swap(wider);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* record = record_at(i);
        const std::uint64_t h = hash_record(record, width);
        const std::size_t mask = slots.size() - 1;
        std::size_t slot = h & mask;
        for (;;) {
            const std::int32_t code = slots[slot];
            if (code < 0) {
                if (firsts.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
                    throw std::length_error("more than 2**31 - 1 distinct labels");
                slots[slot] = static_cast<std::int32_t>(firsts.size());
                codes[i] = slots[slot];
                firsts.push_back(static_cast<std::int64_t>(i));
                hashes.push_back(h);
                if (firsts.size() * 2 > slots.size()) grow();
                break;
            }
            const std::size_t first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(code)]);
            if (hashes[static_cast<std::size_t>(code)] == h && std::memcmp(record_at(first), record, width) == 0) {
                codes[i] = code;
                break;
            }
            slot = (slot + 1) & mask;
        }
    }
    return firsts;
}

template <class Offset>
std::vector<std::int64_t> encode_strings(const Strings<Offset>& strings, std::uint64_t seed, std::int32_t* codes) {
    std::vector<std::int64_t> firsts;
    TextCodes known(seed);
    for (std::size_t i = 0; i < strings.rows; ++i) {
        if (strings.missing && strings.missing[i]) {
            codes[i] = -1;
            continue;
        }
        const auto [code, fresh] = known.of(strings[i], strings.reaches(i, TextKey::width));
        if (fresh) firsts.push_back(static_cast<std::int64_t>(i));
        codes[i] = code;
    }
    return firsts;
}

template std::vector<std::int64_t> encode_strings<std::int32_t>(const Strings<std::int32_t>&, std::uint64_t,
                                                                std::int32_t*);
template std::vector<std::int64_t> encode_strings<std::int64_t>(const Strings<std::int64_t>&, std::uint64_t,
                                                                std::int32_t*);

namespace {

constexpr std::uint64_t widest = std::uint64_t{1} << 20;

// Computed in unsigned numbers, so that the distance between the lowest and the highest does not overflow.
std::uint64_t distance(std::int64_t low, std::int64_t high) {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

template <class T>
bool is_hole(T x) {
    if constexpr (std::is_floating_point_v<T>) return x != x;
    return false;
}

// Find the smallest and the largest number; returns false if there is none, or one that is not whole.
template <class T, class Result>
bool limits(const T* values, std::size_t rows, Result& result, std::int64_t& low, std::int64_t& high) {
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
    for (std::size_t i = 0; i < rows; ++i) {
        const T x = values[i];
        if constexpr (std::is_floating_point_v<T>) {
            if (x != x) continue;
            if (!(std::fabs(x) < T(9007199254740992.0)) || x != std::floor(x)) {
                result.odd = static_cast<std::int64_t>(i);
                return false;
            }
        }
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    if (least > most) return false;
    low = static_cast<std::int64_t>(least);
    high = static_cast<std::int64_t>(most);
    return true;
}

}  // namespace

template <class T>
WholeCodes whole_codes(const T* values, std::size_t rows) {
    WholeCodes result;
    std::int64_t low = 0, high = 0;
    if (!limits(values, rows, result, low, high)) {
        if (result.odd < 0) result.codes.assign(rows, -1);
        return result;
    }
    const std::uint64_t apart = distance(low, high);
    if (apart >= widest) {
        result.narrow = false;
        return result;
    }
    std::vector<std::int32_t> places(apart + 1, -1);
    const auto at = [&](T x) { return static_cast<std::size_t>(static_cast<std::int64_t>(x) - low); };
    for (std::size_t i = 0; i < rows; ++i)
        if (!is_hole(values[i])) places[at(values[i])] = 0;
    for (std::size_t place = 0; place < places.size(); ++place) {
        if (places[place] < 0) continue;
        places[place] = static_cast<std::int32_t>(result.distinct.size());
        result.distinct.push_back(low + static_cast<std::int64_t>(place));
    }
    result.codes.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) result.codes[i] = is_hole(values[i]) ? -1 : places[at(values[i])];
    return result;
}

namespace {

template <class Sum, class T>
void add_whole(const T* values, std::size_t rows, const Labels& labels, std::int64_t low, std::uint64_t apart,
               WholeCount& count) {
    std::vector<Sum> sums((apart + 2) * labels.classes);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t at =
            is_hole(values[i]) ? apart + 1 : static_cast<std::size_t>(static_cast<std::int64_t>(values[i]) - low);
        sums[at * labels.classes + static_cast<std::size_t>(labels.klass[i])] += labels.weight_as<Sum>(i);
    }
    for (std::uint64_t at = 0; at <= apart; ++at) {
        for (std::size_t k = 0; k < labels.classes; ++k) {
            const Sum& sum = sums[at * labels.classes + k];
            if (sum == Sum{}) continue;
            count.number.push_back(low + static_cast<std::int64_t>(at));
            count.klass.push_back(static_cast<std::int32_t>(k));
            count.value.push(sum);
        }
    }
    for (std::size_t k = 0; k < labels.classes; ++k) count.missing.push(sums[(apart + 1) * labels.classes + k]);
}

template <class Sum, class T>
WholeCount count_in(const T* values, std::size_t rows, const Labels& labels) {
    WholeCount count;
    std::int64_t low = 0, high = 0;
    if (limits(values, rows, count, low, high)) {
        const std::uint64_t apart = distance(low, high);
        count.narrow = apart < widest / (labels.classes + 1);
        if (count.narrow) add_whole<Sum>(values, rows, labels, low, apart, count);
        return count;
    }
    std::vector<Sum> missing(labels.classes);
    if (count.odd < 0)
        for (std::size_t i = 0; i < rows; ++i)
            missing[static_cast<std::size_t>(labels.klass[i])] += labels.weight_as<Sum>(i);
    count.missing = Numbers(std::move(missing));
    return count;
}

}  // namespace

template <class T>
WholeCount count_whole(const T* values, std::size_t rows, const Labels& labels) {
    return labels.weight ? count_in<FixedPoint>(values, rows, labels) : count_in<std::int64_t>(values, rows, labels);
}

#define NAIVELY_WHOLE_CODES(T)                                 \
    template WholeCodes whole_codes<T>(const T*, std::size_t); \
    template WholeCount count_whole<T>(const T*, std::size_t, const Labels&);
NAIVELY_WHOLE_CODES(double)
NAIVELY_WHOLE_CODES(float)
NAIVELY_WHOLE_CODES(std::int64_t)
NAIVELY_WHOLE_CODES(std::int32_t)
NAIVELY_WHOLE_CODES(std::uint8_t)
#undef NAIVELY_WHOLE_CODES

}  // namespace naively
