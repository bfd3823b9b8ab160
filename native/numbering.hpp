// Numbering: how a token gets its number. Each way is a value that a TokenReader is made with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "murmur.hpp"
#include "vocabulary.hpp"

namespace naively {

// What is new gets the next number.
struct Growing {
    static constexpr bool by_bytes = false;
    Vocabulary& vocabulary;

    std::uint32_t number(const Word& word) { return vocabulary.find_or_add(word); }
    std::uint32_t number(std::uint64_t sequence) { return vocabulary.find_or_add(sequence); }
};

// What is new has no number.
template <class Known>
struct Fixed {
    static constexpr bool by_bytes = false;
    const Known& vocabulary;

    std::uint32_t number(const Word& word) const { return vocabulary.find(word); }
    std::uint32_t number(std::uint64_t sequence) const { return vocabulary.find(sequence); }
};

// The hash is the number: the bucket, times two, and one more where the hash is below zero and signs are wanted.
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

// Buckets are numbered as they come, and each votes for the token that most of its occurrences are, if one is.
class NamedBuckets {
   public:
    static constexpr bool by_bytes = true;
    explicit NamedBuckets(std::uint32_t buckets) : hash_{buckets, false}, numbers_(0) {}

    std::uint32_t number(std::string_view token) {
        const std::uint32_t bucket = hash_.number(token) / 2;
        const auto next = static_cast<std::uint32_t>(bucket_.size());
        const std::uint32_t number = numbers_.find_or_add(bucket, next);
        if (number == next) {
            bucket_.push_back(bucket);
            votes_.push_back({0, {}});
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
