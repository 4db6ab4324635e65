#pragma once
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/required.hpp>
#include <monomorph/core/spec_fields.hpp>
#include <string_view>

namespace monomorph {

/// The products of a block that low-rank adapters stand beside.
struct LowRankTargets {
  Defaulted<bool> query = true, key = false, value = true, output = false;
  Defaulted<bool> gate = false, up = false, down = false;

  friend constexpr bool operator==(const LowRankTargets&, const LowRankTargets&) = default;
};

/// Low-rank adapters, LoRA (Hu et al. 2021): a product with a matrix W that stays as it is becomes
/// y = x Wᵀ + scale · drop(x) Aᵀ Bᵀ, of which A (rank, in) and B (out, rank) are trained.
struct LowRankSpec {
  Required<int> rank{};
  Required<double> alpha{};
  /// The scale is alpha / rank, or alpha / √rank, with which the size of what is learned does not fall with the rank
  /// (Kalajdzievski 2023).
  Defaulted<bool> rank_stabilised = false;
  Defaulted<double> dropout = 0;  ///< of what A reads, and of nothing else
  LowRankTargets targets{};

  friend constexpr bool operator==(const LowRankSpec&, const LowRankSpec&) = default;
};

/// In the order of LowRankTargets.
enum class LowRankTarget { query, key, value, output, gate, up, down };

/// The names of what is adapted, and of its adapter.
struct LowRankNames {
  std::string_view weight, a, b;
};
inline constexpr LowRankNames low_rank_names[]{{"attention.q.weight", "attention.q.lora_A", "attention.q.lora_B"},
                                               {"attention.k.weight", "attention.k.lora_A", "attention.k.lora_B"},
                                               {"attention.v.weight", "attention.v.lora_A", "attention.v.lora_B"},
                                               {"attention.out.weight", "attention.out.lora_A", "attention.out.lora_B"},
                                               {"mlp.gate.weight", "mlp.gate.lora_A", "mlp.gate.lora_B"},
                                               {"mlp.up.weight", "mlp.up.lora_A", "mlp.up.lora_B"},
                                               {"mlp.down.weight", "mlp.down.lora_A", "mlp.down.lora_B"}};
inline constexpr int n_low_rank_targets = 7;
constexpr const LowRankNames& names_of(LowRankTarget target) { return low_rank_names[static_cast<int>(target)]; }

/// Whether a tensor of such a name, behind the number of a block or without, is of an adapter.
constexpr bool is_of_adapter(std::string_view name) {
  for (const LowRankNames& names : low_rank_names)
    if (name.ends_with(names.a) || name.ends_with(names.b)) return true;
  return false;
}

constexpr bool adapts(const LowRankTargets& targets, LowRankTarget target) {
  const bool chosen[]{targets.query, targets.key, targets.value, targets.output,
                      targets.gate,  targets.up,  targets.down};
  return chosen[static_cast<int>(target)];
}

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::LowRankTargets, query, key, value, output, gate, up, down);
MONOMORPH_SPEC(monomorph::LowRankSpec, rank, alpha, rank_stabilised, dropout, targets);
