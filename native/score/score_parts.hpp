// Scores parts of the rows on several threads and puts together what they found.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "score/score.hpp"

namespace naively {

template <class Work>
Seen in_parts(std::size_t rows, std::size_t elements, int threads, Work&& work) {
    const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(rows, elements >> 15));
    std::vector<Seen> part(parts);
    for_each_task(parts, worth_threads(threads, elements),
                  [&](std::size_t s) { work(rows * s / parts, rows * (s + 1) / parts, part[s]); });
    Seen all;
    for (const Seen& seen : part) {
        all.missing = all.missing || seen.missing;
        all.fault.keep_first(seen.fault);
    }
    return all;
}

}  // namespace naively
