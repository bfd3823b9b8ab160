// Shares: where the work of several threads is parted.
#pragma once

#include <cstddef>
#include <vector>

namespace naively {

// Where shares of about the same work begin, and the end of the last.
template <class Work>
std::vector<std::size_t> shares(std::size_t size, std::size_t parts, Work&& work) {
    std::size_t all = 0, done = 0;
    for (std::size_t i = 0; i < size; ++i) all += work(i);
    std::vector<std::size_t> starts{0};
    for (std::size_t i = 0; i < size; ++i) {
        if (starts.size() < parts && done >= all / parts * starts.size()) starts.push_back(i);
        done += work(i);
    }
    starts.push_back(size);
    return starts;
}

}  // namespace naively
