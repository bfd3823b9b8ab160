#include "encode.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

namespace naively {
namespace {

std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    return h ^ (h >> 32);
}

std::uint64_t hash_record(const std::uint8_t* record, std::size_t width) {
    std::uint64_t h = width;
    while (width >= 8) {
        std::uint64_t word;
        std::memcpy(&word, record, 8);
        h = mix(h ^ word);
        record += 8;
        width -= 8;
    }
    if (width > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, record, width);
        h = mix(h ^ word);
    }
    return h;
}

}  // namespace

std::vector<std::int64_t> encode_records(const std::uint8_t* records, std::size_t count, std::size_t width,
                                         std::int32_t* codes) {
    std::vector<std::int64_t> firsts;
    std::vector<std::int32_t> slots(64, -1);
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

}  // namespace naively
