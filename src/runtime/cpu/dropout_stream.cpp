#include "runtime/kernels/dropout_stream.hpp"
#include <algorithm>
#include <cmath>
#include <monomorph/core/philox.hpp>

namespace monomorph {

detail::DropoutStream detail::dropout_stream(const DropoutKey& key) {
  using namespace random;
  const std::array<std::uint32_t, 2> shared = key_of({key.seed, Purpose::dropout, key.layer, key.site});
  const auto words =
      philox({static_cast<std::uint32_t>(key.step), static_cast<std::uint32_t>(key.step >> 32), 0, 0}, shared);
  const double bound = std::min(std::round(key.rate * 0x1p32), 0x1p32 - 1);
  return {{words[0], words[1]}, static_cast<std::uint32_t>(bound), 1 / (1 - key.rate)};
}

}  // namespace monomorph
