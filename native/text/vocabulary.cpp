#include "text/vocabulary.hpp"

#include <algorithm>
#include <stdexcept>

namespace naively {

const char* fault_of(const Names& names) {
    if (names.size >= no_number) return "there are more names than numbers";
    std::vector<std::uint8_t> depth(names.size, 1);
    std::size_t left = names.bytes_size;
    for (std::uint32_t n = 0; n < names.size; ++n) {
        if (!names.sequence(n)) {
            const std::size_t length = names.length[n];
            if (length > left || names.what[n] > names.bytes_size - length) return "a name lies outside the bytes";
            left -= length;
            continue;
        }
        const std::uint32_t before = names.before(n), last = names.last(n);
        if (before >= n || last >= n) return "a sequence names a part to come";
        if (depth[last] != 1 || depth[before] == 255) return "a sequence is one word after another";
        depth[n] = static_cast<std::uint8_t>(depth[before] + 1);
    }
    return nullptr;
}

void Keys::grow() {
    Large<Slot> old(slots_.size() * 2, Slot{0, no_number});
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.number == no_number) continue;
        std::size_t at = place(slot.key);
        while (slots_[at].number != no_number) at = (at + 1) & mask_;
        slots_[at] = slot;
    }
}

void Vocabulary::keep(std::uint64_t what, std::uint32_t length) {
    if (size() >= no_number - 1) throw std::length_error("a vocabulary holds at most 2**32 - 2 names");
    length_.push_back(length);
    try {
        what_.push_back(what);
    } catch (...) {  // keep both or neither
        length_.pop_back();
        throw;
    }
}

void Vocabulary::too_long() { throw std::length_error("a word is longer than 4 GB"); }

// A failure leaves the vocabulary as it was, except for bytes behind its end.
std::uint32_t Vocabulary::add(const Word& word, std::size_t at) {
    const auto number = static_cast<std::uint32_t>(size());
    const std::size_t begin = bytes_.size();
    bytes_.insert(bytes_.end(), word.bytes, word.bytes + word.length);
    if ((words_ + 1) * 8 > slots_.size() * 5) {
        grow();
        at = free_place(word);
    }
    keep(begin, word.length);
    slots_[at] = {word.head, word.length, number};
    ++words_;
    return number;
}

std::uint32_t Vocabulary::add(std::uint64_t sequence, std::size_t at) {
    const auto number = static_cast<std::uint32_t>(size());
    if (sequences_.reserve(1)) at = sequences_.locate(sequence);
    keep(sequence, is_sequence);
    sequences_.put(at, sequence, number);
    return number;
}

// Insert in the order of the numbers: early words are frequent, and so are found at the first slot.
void Vocabulary::grow() {
    constexpr std::size_t batch = 64;
    Large<Slot> wider(slots_.size() * 2, Slot{{0, 0}, 0, no_number});
    slots_.swap(wider);
    mask_ = slots_.size() - 1;
    Word words[batch];
    std::uint32_t numbers[batch];
    for (std::uint32_t next = 0; next < size();) {
        std::size_t n_words = 0;
        for (; next < size() && n_words < batch; ++next) {
            if (sequence(next)) continue;
            numbers[n_words] = next;
            words[n_words] = word(names(), next);
            prefetch(words[n_words++]);
        }
        for (std::size_t i = 0; i < n_words; ++i)
            slots_[free_place(words[i])] = {words[i].head, words[i].length, numbers[i]};
    }
}

// The slot where a new word belongs.
std::size_t Vocabulary::free_place(const Word& word) const {
    std::size_t at = word.hash & mask_;
    while (slots_[at].number != no_number) at = (at + 1) & mask_;
    return at;
}

std::uint32_t Vocabulary::absorb_one(const Names& other, std::uint32_t number, std::vector<std::uint32_t>& moved) {
    if (moved[number] != no_number) return moved[number];
    if (other.sequence(number)) {  // the parts have smaller numbers
        const std::uint32_t before = absorb_one(other, other.before(number), moved);
        const std::uint32_t last = absorb_one(other, other.last(number), moved);
        return moved[number] = find_or_add(sequence_of(before, last));
    }
    return moved[number] = find_or_add(word(other, number));
}

std::vector<std::uint32_t> Vocabulary::absorb(const Names& other, const std::vector<std::uint32_t>& wanted) {
    std::vector<std::uint32_t> moved(other.size, no_number);
    for (const std::uint32_t number : wanted) absorb_one(other, number, moved);
    return moved;
}

std::vector<std::uint32_t> Vocabulary::absorb(const Names& other, std::size_t size) {
    constexpr std::uint32_t batch = 64;
    std::vector<std::uint32_t> moved(size, no_number);
    Word words[batch];
    const auto sequences = static_cast<std::size_t>(std::count(other.length, other.length + size, is_sequence));
    sequences_.reserve(sequences / 2);  // some of these are known already
    for (std::uint32_t from = 0; from < size; from += batch) {
        const auto to = static_cast<std::uint32_t>(size - from < batch ? size : from + batch);
        // Parts have smaller numbers than their sequence, but may belong to this batch.
        const auto known = [&](std::uint32_t n) { return other.before(n) < from && other.last(n) < from; };
        const auto here = [&](std::uint32_t n) { return sequence_of(moved[other.before(n)], moved[other.last(n)]); };
        for (std::uint32_t n = from; n < to; ++n) {
            if (!other.sequence(n)) {
                words[n - from] = word(other, n);
                prefetch(words[n - from]);
            } else if (known(n)) {
                prefetch(here(n));
            }
        }
        for (std::uint32_t n = from; n < to; ++n)
            moved[n] = other.sequence(n) ? find_or_add(here(n)) : find_or_add(words[n - from]);
    }
    return moved;
}

void Vocabulary::append_name(std::uint32_t number, std::string& to) const {
    if (sequence(number)) {
        append_name(before(number), to);
        to += ' ';
        number = last(number);
    }
    to += word_of(number);
}

}  // namespace naively
