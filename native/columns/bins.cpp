#include "columns/bins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace naively {
namespace {

double times_log(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// Counts of one part, by class.
struct Part {
    std::vector<double> count;
    double total = 0;

    explicit Part(std::size_t classes) : count(classes, 0.0) {}

    void add(const double* row, double sign) {
        for (std::size_t k = 0; k < count.size(); ++k) count[k] += sign * row[k];
    }

    // The number of bits that the labels take: their entropy times their number.
    double bits() {
        total = 0;
        double sum = 0;
        for (const double n : count) {
            total += n;
            sum += times_log(n);
        }
        return std::max(times_log(total) - sum, 0.0);
    }

    double classes() const {
        return static_cast<double>(std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
    }
};

class Cutter {
   public:
    Cutter(const double* counts, std::size_t classes)
        : counts_(counts), classes_(classes), left_(classes), right_(classes), whole_(classes) {}

    // The best cell to cut at, or `begin` if no cut pays.
    std::size_t best(std::size_t begin, std::size_t end) {
        whole_ = Part(classes_);
        for (std::size_t i = begin; i < end; ++i) whole_.add(row(i), 1.0);
        const double bits = whole_.bits(), total = whole_.total, kinds = whole_.classes();
        if (total <= 1 || kinds < 2) return begin;
        left_ = Part(classes_);
        right_ = whole_;
        double least = 0;
        std::size_t cut = begin;
        for (std::size_t i = begin; i + 1 < end; ++i) {
            left_.add(row(i), 1.0);
            right_.add(row(i), -1.0);
            const double here = left_.bits() + right_.bits();
            if (cut == begin || here < least) {
                least = here;
                cut = i + 1;
            }
        }
        if (cut == begin || !pays(begin, cut, end, bits, kinds)) return begin;
        return cut;
    }

   private:
    const double* row(std::size_t i) const { return counts_ + i * classes_; }

    bool pays(std::size_t begin, std::size_t cut, std::size_t end, double bits, double kinds) {
        left_ = right_ = Part(classes_);
        for (std::size_t i = begin; i < cut; ++i) left_.add(row(i), 1.0);
        for (std::size_t i = cut; i < end; ++i) right_.add(row(i), 1.0);
        const double a = left_.bits(), b = right_.bits(), total = whole_.total;
        if (!(left_.total > 0) || !(right_.total > 0)) return false;
        const double gain = (bits - a - b) / total;
        const double change =
            (kinds < 100 ? std::log2(std::pow(3.0, kinds) - 2.0) : kinds * std::log2(3.0)) -
            (kinds * bits / total - left_.classes() * a / left_.total - right_.classes() * b / right_.total);
        return gain > (std::log2(total - 1.0) + change) / total;
    }

    const double* counts_;
    std::size_t classes_;
    Part left_, right_, whole_;
};

}  // namespace

std::vector<std::int64_t> description_length_cuts(const double* counts, std::size_t cells, std::size_t classes) {
    std::vector<std::int64_t> cuts;
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, cells}};
    Cutter cutter(counts, classes);
    while (!open.empty()) {
        const auto [begin, end] = open.back();
        open.pop_back();
        const std::size_t cut = cutter.best(begin, end);
        if (cut == begin) continue;
        cuts.push_back(static_cast<std::int64_t>(cut));
        open.emplace_back(begin, cut);
        open.emplace_back(cut, end);
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

}  // namespace naively
