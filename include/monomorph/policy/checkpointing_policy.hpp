#pragma once
#include <concepts>
#include <string_view>

namespace monomorph {

/// What of a block's activations backward computes again instead of reading from memory.
enum class Recompute {
  nothing,
  cheap,  ///< outputs of norms and activation functions
  block,  ///< all but the block's input
};

/// Activation checkpointing. A policy may export `template <class R> using rules = RuleList<…>`.
template <class P> concept CheckpointingPolicy = requires(int block) {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::recompute(block) } -> std::same_as<Recompute>;
};

}  // namespace monomorph
