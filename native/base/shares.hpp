// Shares: a range of neighbouring rows for each thread, rebalanced while they run.
// Every row is in exactly one share, and results are returned in the order of the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace naively {

// Where shares end: at fixed rows, or wherever their threads get to. Moving ends take less time, since cores are rarely
// equally fast; but a result that depends on where shares end then differs from run to run.
enum class Ends { fixed, moving };

struct Stretch {
    std::size_t from, to;
};

// Rows divided among threads. A thread that is done with its share takes over the later half of the rest of another
// share, as a new share. A share keeps its first row, so no two shares begin at the same row.
class Parting {
   public:
    // `work(i)` estimates the work of row i, in bytes of text or anything that takes as long; less than `enough` work
    // is not divided.
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

    // The number of shares at the start.
    std::size_t size() const { return shares_; }

    // Take the next few rows of a share; nothing at its end.
    std::optional<Stretch> take(std::size_t share) {
        const std::lock_guard<std::mutex> alone(guard_);
        Stretch& left = left_[share];
        if (left.from == left.to) return std::nullopt;
        const std::size_t to = std::min(left.to, std::max(left.from + 1, after(work_before_[left.from] + few)));
        return Stretch{std::exchange(left.from, to), to};
    }

    // Start a new share with half of the rest of another one, if that is enough work. Returns its number.
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

    // Drop the remaining rows of all shares.
    void stop() {
        const std::lock_guard<std::mutex> alone(guard_);
        for (Stretch& left : left_) left.to = left.from;
    }

   private:
    static constexpr std::size_t few = std::size_t{1} << 16;

    // The work in a stretch that can be divided: a single row cannot.
    std::size_t to_part(const Stretch& left) const {
        return left.to - left.from < 2 ? 0 : work_before_[left.to] - work_before_[left.from];
    }
    // The first row that has at least this much work before it.
    std::size_t after(std::size_t work) const {
        const auto found = std::lower_bound(work_before_.begin(), work_before_.end(), work);
        return static_cast<std::size_t>(found - work_before_.begin());
    }

    Ends ends_;
    std::size_t enough_;
    std::vector<std::size_t> work_before_;  // for each row, and for the end
    std::vector<Stretch> left_;             // the rest of each share
    std::size_t shares_ = 0;
    std::mutex guard_;
};

// The rows of one share, a few at a time.
class Share {
   public:
    Share(Parting& parting, std::size_t number) : parting_(parting), number_(number), next_(parting.take(number)) {}

    // The first row of the share.
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

// Run `count` on each share, on several threads, and return the results in the order of the rows.
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
