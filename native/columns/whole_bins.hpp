// WholeBins: bins of whole numbers, read from a table of all numbers between the first and the last edge.
// It gives the same bins as comparing with every edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace naively {

class WholeBins {
   public:
    // No table is made that would be longer than `most` numbers.
    WholeBins(const std::vector<double>& starts, std::size_t most) {
        if (!starts.empty()) {
            const auto [least, greatest] = std::minmax_element(starts.begin(), starts.end());
            if (!(std::fabs(*least) < exact) || !(std::fabs(*greatest) < exact)) return;
            low_ = whole(*least), high_ = whole(*greatest);
        }
        const auto size = static_cast<std::size_t>(high_ - low_) + 2;
        if (size > most) return;
        codes_.resize(size);
        for (const double start : starts) ++codes_[place(whole(start))];
        std::partial_sum(codes_.begin(), codes_.end(), codes_.begin());
    }

    bool empty() const { return codes_.empty(); }

    // The number of starts at or below a number.
    template <class T>
    std::int32_t of(T x) const {
        return codes_[place(x)];
    }

   private:
    static constexpr double exact = 4503599627370496.0;  // below this a number's ceiling is a whole number

    static std::int64_t whole(double start) { return static_cast<std::int64_t>(std::ceil(start)); }

    // The number's place in the table: numbers below all starts come first, numbers above all of them last.
    template <class T>
    std::size_t place(T x) const {
        return static_cast<std::size_t>(std::clamp(static_cast<std::int64_t>(x), low_ - 1, high_) - (low_ - 1));
    }

    std::int64_t low_ = 0, high_ = -1;  // the first and the last start
    std::vector<std::int32_t> codes_;
};

}  // namespace naively
