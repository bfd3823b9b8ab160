// Runs numbered tasks on a few threads.
// Every task runs once unless one throws; the first exception is thrown again in the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace naively {

template <class Task>
void for_each_task(std::size_t tasks, int threads, Task&& task) {
    const std::size_t workers = threads < 1 ? 1 : static_cast<std::size_t>(threads);
    if (workers == 1 || tasks <= 1) {
        for (std::size_t i = 0; i < tasks; ++i) task(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto work = [&] {
        try {
            for (std::size_t i = next++; i < tasks; i = next++) task(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            next = tasks;
        }
    };
    std::vector<std::thread> pool;
    const std::size_t extra = (workers < tasks ? workers : tasks) - 1;
    pool.reserve(extra);
    for (std::size_t i = 0; i < extra; ++i) {
        try {
            pool.emplace_back(work);
        } catch (...) {  // no further thread can start: those that run, and this one, do the work
            break;
        }
    }
    work();
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// The number of threads to use: one if the work is too small to repay starting more.
inline int worth_threads(int threads, std::size_t elements) { return elements < (std::size_t{1} << 16) ? 1 : threads; }

}  // namespace naively
