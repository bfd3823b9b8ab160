#include "text/stored.hpp"

#include <bit>

namespace naively {
namespace {

std::vector<std::uint64_t> empty_slots(std::size_t n_names) {
    return std::vector<std::uint64_t>(n_names == 0 ? 0 : std::bit_ceil(2 * n_names), StoredVocabulary::empty);
}

// Store a number in the first free slot. A slot in use is never all ones, since no number is.
void put(std::vector<std::uint64_t>& slots, std::uint64_t hash, std::uint32_t number) {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = hash & mask;
    while (slots[at] != StoredVocabulary::empty) at = (at + 1) & mask;
    slots[at] = (hash >> 32 << 32) | number;
}

}  // namespace

StoredArrays store(const Vocabulary& vocabulary, const std::vector<std::uint32_t>& order,
                   const std::vector<std::uint32_t>& place) {
    StoredArrays arrays;
    arrays.what.reserve(order.size());
    arrays.length.reserve(order.size());
    std::size_t words = 0;
    for (const std::uint32_t number : order) words += !vocabulary.sequence(number);
    arrays.words = empty_slots(words);
    arrays.sequences = empty_slots(order.size() - words);
    for (std::uint32_t at = 0; at < order.size(); ++at) {
        const std::uint32_t number = order[at];
        if (vocabulary.sequence(number)) {
            const std::uint64_t parts = sequence_of(place[vocabulary.before(number)], place[vocabulary.last(number)]);
            arrays.what.push_back(parts);
            arrays.length.push_back(StoredVocabulary::is_sequence);
            put(arrays.sequences, hash_number(parts, StoredVocabulary::seed), at);
            continue;
        }
        const std::string_view word = vocabulary.word_of(number);
        arrays.what.push_back(arrays.bytes.size());
        arrays.length.push_back(static_cast<std::uint32_t>(word.size()));
        arrays.bytes.insert(arrays.bytes.end(), word.begin(), word.end());
        const Head head = load_head(word.data(), word.size());
        put(arrays.words, hash_bytes(word.data(), word.size(), head, StoredVocabulary::seed), at);
    }
    return arrays;
}

bool StoredVocabulary::append_name(std::uint32_t number, std::string& to) const {
    std::vector<std::uint32_t> parts;  // the last word first
    for (;; number = static_cast<std::uint32_t>(view_.what[number] >> 32)) {
        if (number >= view_.size || parts.size() > 255) return false;
        if (view_.length[number] != is_sequence) break;
        parts.push_back(static_cast<std::uint32_t>(view_.what[number]));
    }
    parts.push_back(number);
    for (std::size_t i = parts.size(); i-- > 0;) {
        const std::uint32_t word = parts[i];
        if (word >= view_.size || view_.length[word] == is_sequence || !within(word)) return false;
        if (i + 1 < parts.size()) to += ' ';
        to.append(view_.bytes + view_.what[word], view_.length[word]);
    }
    return true;
}

}  // namespace naively
