#pragma once
#include <cstdint>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/policy/model_kind.hpp>

namespace monomorph {

namespace rule {
template <int n, std::int64_t n_layers> struct FreezesWithinLayers {
  static constexpr bool holds = n_layers < 1 || (0 <= n && n <= n_layers);
  static consteval void explain() {
    static_assert(holds, "[FREEZE-02] FreezeFirst<n> must have 0 <= n <= n_layers; change n (docs/rules.md#freeze-02)");
  }
};
}  // namespace rule

namespace finetuning {

/// The embedding, with a head that is tied to it, and the first n blocks stay as they are; the blocks above and a head
/// of its own are trained.
template <int n> struct FreezeFirst {
  static constexpr bool trains(UnitKind kind, int block) {
    return kind == UnitKind::head || (kind == UnitKind::block && block >= n);
  }
  template <class R> using rules = RuleList<rule::FreezesWithinLayers<n, trunk_of<R>.n_layers.value>>;
};

}  // namespace finetuning
}  // namespace monomorph
