// Macros for the registers of the machine: NAIVELY_SSE2 is set where sixteen bytes can be handled at once.
// Every variant of a function gives the same bits: contraction to fused multiply-add is off for the whole core.
//
// A function marked NAIVELY_WIDE is compiled for the baseline and for wider registers, and the loader picks one.
#pragma once

#include <cstdlib>

#if defined(__SSE2__) || (defined(_MSC_VER) && defined(_M_X64))
#include <emmintrin.h>
#define NAIVELY_SSE2 1
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__)
#define NAIVELY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define NAIVELY_SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(NAIVELY_SANITIZED)
#define NAIVELY_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NAIVELY_WIDE
#endif

// A function marked NAIVELY_FUSED may use wide registers and fused multiply-add; call it only where `fused()` is true.
// Setting NAIVELY_NARROW in the environment makes `fused()` false, for tests.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(NAIVELY_SANITIZED)
#define NAIVELY_FUSED __attribute__((target("avx2,fma")))
namespace naively {
inline bool fused() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !std::getenv("NAIVELY_NARROW");
}
}  // namespace naively
#else
#define NAIVELY_FUSED
namespace naively {
inline bool fused() {
#if defined(__FMA__) || defined(__aarch64__) || defined(_M_ARM64)
    return !std::getenv("NAIVELY_NARROW");
#else
    return false;
#endif
}
}  // namespace naively
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NAIVELY_PREFETCH(address) __builtin_prefetch(address)
#else
#define NAIVELY_PREFETCH(address) ((void)(address))
#endif

#if defined(_MSC_VER)
#define NAIVELY_INLINE __forceinline
#define NAIVELY_RESTRICT __restrict
#else
#define NAIVELY_INLINE inline __attribute__((always_inline))
#define NAIVELY_RESTRICT __restrict__
#endif
