// Shares: neighbouring rows of work for each thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace naively {

// Where shares end: where it was said before, or wherever their threads get to. Cores are seldom equally fast at one
// time, so the latter takes less of it; but what depends on where shares end would not come out the same twice.
enum class Ends { fixed, moving };

struct Stretch {
    std::size_t from, to;
};

// Rows parted among threads. One that is done with its share takes over the later half of what another has left, as one
// more share. A share keeps its first row, so that it begins where no other does.
class Parting {
   public:
    // `work(i)` is about how much row i is, in bytes of text or what takes as long; less than `enough` is not parted.
    template <class Work>
    Parting(std::size_t rows, int threads, Ends ends, Work&& work, std::size_t enough = std::size_t{1} << 21)
        : ends_(ends), enough_(enough), work_before_(rows + 1, 0) {
        for (std::size_t i = 0; i < rows; ++i) work_before_[i + 1] = work_before_[i] + work(i);
        const std::size_t parts = std::min(rows, static_cast<std::size_t>(std::max(threads, 1)));
        std::size_t from = 0;
        for (std::size_t p = 1; p < parts; ++p) {
            const std::size_t to = std::min(after(work_before_[rows] / parts * p), rows - 1);
            if (to > from) left_.push_back({std::exchange(from, to), to});
        }
        left_.push_back({from, rows});
        shares_ = left_.size();
    }

    // How many there are to begin with.
    std::size_t size() const { return shares_; }

    // The next few rows of a share; none at its end.
    std::optional<Stretch> take(std::size_t share) {
        const std::lock_guard<std::mutex> alone(guard_);
        Stretch& left = left_[share];
        if (left.from == left.to) return std::nullopt;
        const std::size_t to = std::min(left.to, std::max(left.from + 1, after(work_before_[left.from] + few)));
        return Stretch{std::exchange(left.from, to), to};
    }

    // One more share, of what another has left, if there is enough.
    std::optional<std::size_t> take_over() {
        if (ends_ == Ends::fixed) return std::nullopt;
        const std::lock_guard<std::mutex> alone(guard_);
        const auto most = std::max_element(left_.begin(), left_.end(),
                                           [&](const Stretch& a, const Stretch& b) { return to_part(a) < to_part(b); });
        if (to_part(*most) < enough_) return std::nullopt;
        const std::size_t to = most->to;
        most->to = std::min(after(work_before_[most->from] + to_part(*most) / 2), to - 1);
        left_.push_back({most->to, to});
        return left_.size() - 1;
    }

    // Nothing is left.
    void stop() {
        const std::lock_guard<std::mutex> alone(guard_);
        for (Stretch& left : left_) left.to = left.from;
    }

   private:
    static constexpr std::size_t few = std::size_t{1} << 16;

    // How much work there is that could be parted: a single row cannot.
    std::size_t to_part(const Stretch& left) const {
        return left.to - left.from < 2 ? 0 : work_before_[left.to] - work_before_[left.from];
    }
    // The first row before which there is so much work.
    std::size_t after(std::size_t work) const {
        const auto found = std::lower_bound(work_before_.begin(), work_before_.end(), work);
        return static_cast<std::size_t>(found - work_before_.begin());
    }

    Ends ends_;
    std::size_t enough_;
    std::vector<std::size_t> work_before_;  // each row, and the end
    std::vector<Stretch> left_;             // of each share
    std::size_t shares_ = 0;
    std::mutex guard_;
};

// The rows of one share, a few at a time.
class Share {
   public:
    Share(Parting& parting, std::size_t number) : parting_(parting), number_(number), next_(parting.take(number)) {}

    // Where it begins.
    std::size_t begin() const { return begin_; }
    template <class Row>
    void each(Row&& row) {
        for (; next_; next_ = parting_.take(number_))
            for (std::size_t i = next_->from; i < next_->to; ++i) row(i);
    }

   private:
    Parting& parting_;
    std::size_t number_;
    std::optional<Stretch> next_;
    std::size_t begin_ = next_ ? next_->from : 0;
};

// What `count` makes of each share, in the order of the rows.
template <class Count>
auto in_shares(Parting& parting, int threads, Count&& count) {
    using Result = decltype(count(std::declval<Share&>()));
    std::mutex guard;
    std::vector<std::pair<std::size_t, Result>> found;
    for_each_task(parting.size(), threads, [&](std::size_t first) {
        for (std::optional<std::size_t> number = first; number; number = parting.take_over()) {
            try {
                Share share(parting, *number);
                Result result = count(share);
                const std::lock_guard<std::mutex> alone(guard);
                found.emplace_back(share.begin(), std::move(result));
            } catch (...) {
                parting.stop();
                throw;
            }
        }
    });
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Result> results;
    results.reserve(found.size());
    for (auto& [begin, result] : found) results.push_back(std::move(result));
    return results;
}

}  // namespace naively
