#pragma once
#include <cstdint>

namespace monomorph::rule {

template <std::int64_t n_layers> struct LayersPositive {
  static constexpr bool holds = n_layers > 0;
  static consteval void explain() {
    static_assert(holds, "[MODEL-01] n_layers must be at least 1; change ModelSpec::n_layers (docs/rules.md#model-01)");
  }
};

}  // namespace monomorph::rule
