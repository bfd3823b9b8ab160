// Memory for large tables, on huge pages where the system has them, so that a look-up rarely misses the TLB.
// Where huge pages are refused, only speed is lost.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively {

template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t size) {
        if (!large(size)) return static_cast<T*>(::operator new(size * sizeof(T)));
        void* room = ::operator new(size * sizeof(T), std::align_val_t{page});
#if defined(__linux__)
        madvise(room, size * sizeof(T) / page * page, MADV_HUGEPAGE);  // a refusal costs only time
#endif
        return static_cast<T*>(room);
    }
    void deallocate(T* room, std::size_t size) {
        if (large(size))
            ::operator delete(room, std::align_val_t{page});
        else
            ::operator delete(room);
    }

    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }

   private:
    static constexpr std::size_t page = std::size_t{1} << 21;
    static bool large(std::size_t size) { return size >= page / sizeof(T); }
};

template <class T>
using Large = std::vector<T, LargePages<T>>;

}  // namespace naively
