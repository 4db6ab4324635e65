#pragma once
#include <string_view>

namespace monomorph {

/// What of a block's activations backward computes again instead of reading from memory. Each is a choice of its own:
/// what is not chosen is kept, and what is chosen is computed from that, in the order of forward.
struct Recompute {
  bool norm = false;        ///< outputs of norms
  bool activation = false;  ///< outputs of activation functions
  bool qkv = false;         ///< queries, keys and values
  bool attention = false;   ///< what attention makes of them, and its log-sum-exps
  bool projection = false;  ///< of the parts' last products what backward reads
  bool mlp = false;         ///< what activation functions read

  static const Recompute nothing;
  static const Recompute cheap;  ///< norms and activation functions, which are no products
  static const Recompute block;  ///< all: nothing is kept but the block's input

  friend constexpr bool operator==(const Recompute&, const Recompute&) = default;
};
inline constexpr Recompute Recompute::nothing{};
inline constexpr Recompute Recompute::cheap{.norm = true, .activation = true};
inline constexpr Recompute Recompute::block{
    .norm = true, .activation = true, .qkv = true, .attention = true, .projection = true, .mlp = true};

struct RecomputeChoice {
  std::string_view name;
  bool Recompute::*chosen;
};
inline constexpr RecomputeChoice recompute_choices[]{
    {"norm", &Recompute::norm},           {"activation", &Recompute::activation}, {"qkv", &Recompute::qkv},
    {"attention", &Recompute::attention}, {"projection", &Recompute::projection}, {"mlp", &Recompute::mlp}};
inline constexpr int n_recompute_choices = 6;

/// Choices as a number, whose bits they are in their order: 0 up to all_choices.
constexpr unsigned number_of(Recompute recompute) {
  unsigned number = 0;
  for (int i = 0; i < n_recompute_choices; ++i) number |= (recompute.*recompute_choices[i].chosen ? 1U : 0U) << i;
  return number;
}
constexpr Recompute recompute_of(unsigned number) {
  Recompute recompute;
  for (int i = 0; i < n_recompute_choices; ++i) recompute.*recompute_choices[i].chosen = (number >> i & 1U) != 0;
  return recompute;
}
inline constexpr unsigned all_choices = number_of(Recompute::block);

}  // namespace monomorph
