#pragma once
#include <algorithm>
#include <cstddef>

namespace monomorph::data {

/// Of the threads asked for, those that work on blocks: every one keeps memory of its own, and what is read and written
/// in turn does not get faster with more.
inline std::size_t n_workers(int n_threads) {
  constexpr int most_workers = 64;
  return static_cast<std::size_t>(std::min(n_threads, most_workers));
}

}  // namespace monomorph::data
