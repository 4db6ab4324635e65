#include "copy_past_caches.hpp"

#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace monomorph::runtime {
namespace {

#if defined(__x86_64__)
constexpr std::size_t line_bytes = 64, vector_bytes = sizeof(__m128i);

/// Whole cache lines, as parts of one would be written one by one.
void stream_lines(const std::byte* from, std::byte* to, std::size_t n_lines) {
  for (; n_lines > 0; --n_lines, from += line_bytes, to += line_bytes) {
    __m128i line[line_bytes / vector_bytes];
    std::memcpy(line, from, line_bytes);
    for (std::size_t i = 0; i < line_bytes / vector_bytes; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, line[i]);
  }
  _mm_sfence();  // streamed bytes are ordered by nothing else, and another thread is to read them
}

void copy_on_one_thread(const std::byte* from, std::byte* to, std::size_t n) {
  const std::size_t to_line = std::min(n, -reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  std::memcpy(to, from, to_line);
  from += to_line, to += to_line, n -= to_line;
  const std::size_t in_lines = n / line_bytes * line_bytes;
  stream_lines(from, to, in_lines / line_bytes);
  std::memcpy(to + in_lines, from + in_lines, n - in_lines);
}
#else
void copy_on_one_thread(const std::byte* from, std::byte* to, std::size_t n) { std::memcpy(to, from, n); }
#endif

}  // namespace

void copy_past_caches(const std::byte* from, std::byte* to, std::int64_t n) {
  constexpr std::int64_t at_a_time = std::int64_t{1} << 20;
  parallel_for((n + at_a_time - 1) / at_a_time, [&](std::int64_t i) {
    const std::int64_t first = i * at_a_time;
    copy_on_one_thread(from + first, to + first, static_cast<std::size_t>(std::min(at_a_time, n - first)));
  });
}

}  // namespace monomorph::runtime
