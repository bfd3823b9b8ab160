// Runs numbered tasks on a few threads; the first exception thrown by a task is thrown again here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace naively {

// What threads at the same tasks know of each other. It is theirs together, so that whoever waits for the tasks need
// not wait for a thread that begins when all of them are taken, nor for one to end.
class Tasks {
   public:
    explicit Tasks(std::size_t many) : many_(many), left_(many) {}

    // Takes one task after another. What they refer to is there as long as one is left.
    template <class Task>
    void work(Task& task) {
        for (std::size_t i = next_++; i < many_; i = next_++) {
            try {
                task(i);
                finish(1);
            } catch (...) {
                fail(std::current_exception());
            }
        }
    }

    // Until none is left.
    void wait() {
        for (std::size_t left = left_; left != 0; left = left_) left_.wait(left);
        if (failure_) std::rethrow_exception(failure_);
    }

   private:
    void finish(std::size_t many) {
        if ((left_ -= many) == 0) left_.notify_all();
    }

    // Those that nobody has taken yet are taken by nobody.
    void fail(std::exception_ptr failure) {
        {
            std::lock_guard<std::mutex> lock(guard_);
            if (!failure_) failure_ = std::move(failure);
        }
        finish(1 + many_ - std::min(next_.exchange(many_), many_));
    }

    const std::size_t many_;
    std::atomic<std::size_t> next_{0}, left_;
    std::mutex guard_;
    std::exception_ptr failure_;
};

template <class Task>
void for_each_task(std::size_t tasks, int threads, Task&& task) {
    const std::size_t workers = std::min(threads < 1 ? std::size_t{1} : static_cast<std::size_t>(threads), tasks);
    if (workers <= 1) {
        for (std::size_t i = 0; i < tasks; ++i) task(i);
        return;
    }
    const auto shared = std::make_shared<Tasks>(tasks);
    for (std::size_t i = 1; i < workers; ++i) {
        try {
            std::thread([shared, &task] { shared->work(task); }).detach();
        } catch (...) {  // No thread to be had: the ones there are, and this one, do the work.
            break;
        }
    }
    shared->work(task);
    shared->wait();
}

// Threads that small work would not repay are not started.
inline int worth_threads(int threads, std::size_t elements) { return elements < (std::size_t{1} << 16) ? 1 : threads; }

}  // namespace naively
