#pragma once
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>

namespace monomorph::testing {

/// What takes more than this many times as long for 4 times as much is not linear: quadratic would be 16.
inline constexpr double most_linear_growth = 7;

/// Processor time of this thread: what others on the machine do counts little.
inline double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// How much longer `work` takes for an input of size 4 n than for one of size n. Others who share caches and cores only
/// ever make it longer, so the least of three times is taken, and all is done again before a growth is called too much.
/// @param input makes the argument of `work` from a size
template <class Input, class Work> double growth_of_time(std::size_t n, Input input, Work work) {
  const auto least_seconds = [&](const auto& argument) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      const double before = processor_seconds();
      work(argument);
      least = std::min(least, processor_seconds() - before);
    }
    return least;
  };
  const auto small = input(n), large = input(4 * n);
  double growth = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 5 && growth > most_linear_growth; ++attempt)
    growth = std::min(growth, least_seconds(large) / least_seconds(small));
  return growth;
}

}  // namespace monomorph::testing
