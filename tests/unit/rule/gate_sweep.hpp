#pragma once
#include "sweep.hpp"

/// Sweeps of the whole gate, in its stages. Of two broken rules both are told if they are of one stage, and else that
/// of the earlier one.
namespace monomorph::testing {

/// Of which nothing is left out, and which breaks no rule.
struct WholeRecipe {
  static constexpr DecoderSpec model{
      .vocab_size = 64, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = 16, .vocab_multiple = 16};
  static constexpr MeshSpec mesh{};
  static constexpr Expect expect{.params = 7872};
  static constexpr Budget budget{.ranks = 2, .bytes_per_rank = gib(1), .micro_batch = 1};
  using layers = Stack<Run<DecoderBlock, 2>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::Causal;
  using finetuning = monomorph::finetuning::All;
  using schedule = monomorph::schedule::WarmupDecay;
  using observer = monomorph::observer::TensorNorms;
  using device = monomorph::device::Cpu;
};

template <class... Tuples> using AllOf = decltype(std::tuple_cat(std::declval<Tuples>()...));

/// A recipe with a value of its own.
#define MONOMORPH_CHANGE_VALUE(Name, member)                                    \
  template <auto value> struct Name {                                           \
    static constexpr unsigned members = member##_;                              \
    template <class R> struct in : R { static constexpr auto member = value; }; \
  };
MONOMORPH_CHANGE_VALUE(OfModel, model)
MONOMORPH_CHANGE_VALUE(Expecting, expect)
MONOMORPH_CHANGE_VALUE(Within, budget)
#undef MONOMORPH_CHANGE_VALUE

/// Runs of one block.
template <template <class R> class Block> using OfBlock = Of<Stack<Run<Block, 2>>>;

constexpr DecoderSpec with(auto change) {
  DecoderSpec model = WholeRecipe::model;
  change(model);
  return model;
}

/// The changes of a tuple, each of which tells by its `members` what it is about. A sweep takes a type derived from it,
/// whose name is short: that of a tuple has up to thirteen kilobytes, and would be part of the name of all that is
/// swept.
template <class Tuple, class BaseRecipe = WholeRecipe> struct GateChanges {
  using Base = BaseRecipe;
  static constexpr int n_changes = std::tuple_size_v<Tuple>;
  template <int i> using Change = std::tuple_element_t<i, Tuple>;
  template <class R> static consteval auto rules() { return rule::all_rules<R>(); }
  template <class R> static consteval int stage() { return decltype(rule::all_rules<R>())::number; }
  static constexpr auto members = []<class... C>(std::tuple<C...>*) {
    return std::array<unsigned, sizeof...(C)>{C::members...};
  }(static_cast<Tuple*>(nullptr));
  /// What changes a part of what the other does is no pair with it.
  static constexpr bool is_paired(int a, int b) { return (members[a] & members[b]) == 0; }
  static constexpr bool overlap(int, int) { return false; }
};

/// Rules that policies and layers export.
template <int id> struct Own {
  static constexpr bool holds = false;
  static consteval void explain() {}
};

}  // namespace monomorph::testing
