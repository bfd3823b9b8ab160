// Scores parts of the rows on several threads and merges their faults and notes.
// The first fault in the order of the rows is kept.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "score/score.hpp"

namespace naively {

template <class Work>
Findings in_parts(std::size_t rows, std::size_t elements, int threads, Work&& work) {
    const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(rows, elements >> 15));
    std::vector<Findings> part(parts);
    for_each_task(parts, worth_threads(threads, elements),
                  [&](std::size_t s) { work(rows * s / parts, rows * (s + 1) / parts, part[s]); });
    Findings all;
    for (const Findings& findings : part) {
        all.missing = all.missing || findings.missing;
        all.fault.keep_first(findings.fault);
    }
    return all;
}

}  // namespace naively
