#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monomorph::train {

/// The draws of Python's `random.Random(seed)`: Mersenne Twister 19937 (Matsumoto and Nishimura 1998), seeded by an
/// array of one word, and what `sample` makes of it since Python 3.2. Harnesses choose examples with it.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed);
  /// The indices of n different elements of `size`, n being at most that, in the order of the draws.
  std::vector<std::size_t> sample(std::size_t size, std::size_t n);

 private:
  std::uint32_t next();
  std::size_t below(std::size_t bound);

  std::array<std::uint32_t, 624> state_;
  std::size_t at_ = 624;
};

}  // namespace monomorph::train
