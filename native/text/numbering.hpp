// Numberings: the ways in which a token gets its number. A TokenReader is made with one of them.
// A token gets the same number whenever it is read, as long as the vocabulary behind the numbering lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/murmur.hpp"
#include "text/vocabulary.hpp"

namespace naively {

// A small cache of recent words and their numbers: a few words are most of any text, and here they lie close together.
class Recent {
   public:
    Recent() : known_(places, Known{{0, 0}, 0xffffffff, no_number}) {}  // no word has this length

    // Find the number of a word; if this returns false, `number` means nothing.
    NAIVELY_INLINE bool find(const Word& word, std::uint32_t& number) const {
        const Known& known = known_[place(word)];
        number = known.number;
        return ((known.head.first ^ word.head.first) | (known.head.second ^ word.head.second) |
                (known.length ^ word.length)) == 0;
    }
    void keep(const Word& word, std::uint32_t number) {
        if (word.length <= sizeof(Head)) known_[place(word)] = {word.head, word.length, number};
    }

   private:
    static constexpr std::size_t places = 1 << 12;
    struct Known {
        Head head;
        std::uint32_t length, number;
    };
    static std::size_t place(const Word& word) { return word.hash >> 40 & (places - 1); }

    std::vector<Known> known_;
};

// Numbers tokens by a growing vocabulary: a new token gets the next number.
class Growing {
   public:
    static constexpr bool by_bytes = false;
    explicit Growing(Vocabulary& known) : vocabulary(known) {}

    void number(const Word* words, std::size_t n_words, std::uint32_t* to) {
        if (seen_ < worth_it && (seen_ += n_words) >= worth_it) recent_.emplace();
        if (recent_)
            look_up(words, n_words, to);
        else
            for (std::size_t i = 0; i < n_words; ++i) to[i] = vocabulary.find_or_add(words[i]);
    }
    std::uint32_t number(std::uint64_t sequence) { return vocabulary.find_or_add(sequence); }

    Vocabulary& vocabulary;

   private:
    static constexpr std::size_t worth_it = 1 << 12, batch = 128;

    void look_up(const Word* words, std::size_t n_words, std::uint32_t* to) {
        for (; n_words > batch; n_words -= batch, words += batch, to += batch) look_up(words, batch, to);
        std::uint32_t left[batch];
        std::size_t size = 0;
        for (std::uint32_t i = 0; i < n_words; ++i) {
            const bool known = recent_->find(words[i], to[i]);
            if (!known) vocabulary.prefetch(words[i]);
            left[size] = i;
            size += !known;
        }
        for (std::size_t k = 0; k < size; ++k) {
            const Word& word = words[left[k]];
            to[left[k]] = vocabulary.find_or_add(word);
            recent_->keep(word, to[left[k]]);
        }
    }

    std::size_t seen_ = 0;
    std::optional<Recent> recent_;
};

// Numbers tokens by a fixed vocabulary: an unknown token has no number.
template <class Known>
struct Fixed {
    static constexpr bool by_bytes = false;
    const Known& vocabulary;

    void number(const Word* words, std::size_t n_words, std::uint32_t* to) const {
        for (std::size_t i = 0; i < n_words; ++i) vocabulary.prefetch(words[i]);
        for (std::size_t i = 0; i < n_words; ++i) to[i] = vocabulary.find(words[i]);
    }
    std::uint32_t number(std::uint64_t sequence) const { return vocabulary.find(sequence); }
};

// Numbers tokens by their hash: twice the bucket, plus one if signs are wanted and the hash is negative.
struct Buckets {
    static constexpr bool by_bytes = true;
    std::uint32_t buckets;
    bool with_signs;

    std::uint32_t number(std::string_view token) const {
        const std::uint32_t h = murmur(token.data(), token.size());
        const bool negative = h >> 31;
        const std::uint32_t size = negative ? ~h + 1 : h;
        return (size % buckets) * 2 + (with_signs && negative ? 1 : 0);
    }
};

// Numbers buckets in the order in which they appear. Each bucket takes a majority vote on its name: the token that is
// more than half of its occurrences, if there is one.
class NamedBuckets {
   public:
    static constexpr bool by_bytes = true;
    explicit NamedBuckets(std::uint32_t buckets) : hash_{buckets, false}, numbers_(process_seed) {}

    std::uint32_t number(std::string_view token) {
        const std::uint32_t bucket = hash_.number(token) / 2;
        numbers_.reserve(1);
        const std::size_t at = numbers_.locate(bucket);
        std::uint32_t number = numbers_.number_at(at);
        if (number == no_number) {
            number = static_cast<std::uint32_t>(bucket_.size());
            bucket_.push_back(bucket);
            votes_.push_back({0, {}});
            numbers_.put(at, bucket, number);
        }
        vote(votes_[number], token);
        return number;
    }

    std::size_t size() const { return bucket_.size(); }
    std::uint32_t bucket(std::uint32_t number) const { return bucket_[number]; }
    std::string_view name(std::uint32_t number) const { return votes_[number].name; }
    std::uint32_t lead(std::uint32_t number) const { return votes_[number].lead; }

   private:
    struct Vote {
        std::uint32_t lead;
        std::string name;
    };
    static void vote(Vote& vote, std::string_view token) {
        if (vote.lead == 0) vote.name = token;
        if (vote.name == token)
            ++vote.lead;
        else
            --vote.lead;
    }

    Buckets hash_;
    Keys numbers_;
    std::vector<std::uint32_t> bucket_;
    std::vector<Vote> votes_;
};

}  // namespace naively
