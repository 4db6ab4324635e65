#pragma once
#include <monomorph/block/decoder_block.hpp>

namespace stranger {

/// x + W₂ relu²(W₁ norm(x)): a block with a forward and a backward pass of its own, and no attention.
/// M tokens, D model width, F hidden width.
template <class R> struct SquaredMlp {
  static constexpr std::int64_t D = monomorph::trunk_of<R>.d_model, F = 2 * D;
  static constexpr bool within_documents = true;  ///< no token sees another one

  struct Params : monomorph::ParameterLayout {
    monomorph::Slice norm_D, up_FxD, down_DxF;
    constexpr explicit Params(int block = 0) {
      using enum monomorph::ParameterClass;
      norm_D = take_tensor("squared.norm.weight", {1, D}, norm, monomorph::initializers::one);
      up_FxD =
          take_tensor("squared.up.weight", {F, D}, linear, monomorph::initializers::matrix(monomorph::trunk_of<R>));
      down_DxF = take_tensor("squared.down.weight", {D, F}, linear,
                             monomorph::initializers::residual_matrix(monomorph::trunk_of<R>, block));
    }
  };
  /// What backward reads.
  struct Saved {
    monomorph::Slice normed_MD, up_MF, activated_MF, rstd_M;
    constexpr Saved(monomorph::SavedPlacement activations, monomorph::SavedPlacement statistics, std::int64_t M) {
      normed_MD = activations.take({M, D}, &monomorph::Recompute::norm);
      up_MF = activations.take({M, F}, &monomorph::Recompute::mlp);
      activated_MF = activations.take({M, F}, &monomorph::Recompute::activation);
      rstd_M = statistics.take({1, M});
    }
  };
  struct Temporary {
    constexpr Temporary(monomorph::Layout&, std::int64_t /*M*/) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 4 * F * D; }
  /// Of products that `recompute` makes again. That of the block's output is not among them.
  static constexpr double recomputed_flops_per_token(monomorph::Recompute again) { return again.mlp ? 2 * F * D : 0; }
  /// What the program's `describe`, and checkpoints, say of the block beside its name.
  template <class Recipe> static void describe(auto& to) { to.add("hidden width ", F); }

  static void forward(const monomorph::TensorsOf<R>& t, const Saved& saved);
  static void recompute(const monomorph::TensorsOf<R>& t, const Saved& saved);
  static void backward(const monomorph::TensorsOf<R>& t, const Saved& saved);
};

}  // namespace stranger

// The bodies. Kernels are found by the type of the queue where a program is made of a recipe that has them, so no
// header of theirs is needed.
namespace stranger {

template <class R> void SquaredMlp<R>::forward(const monomorph::TensorsOf<R>& t, const Saved& saved) {
  static constexpr Params p;
  const auto normed = t.activations[saved.normed_MD], up = t.activations[saved.up_MF],
             activated = t.activations[saved.activated_MF];
  rms_norm(t.queue, t.x_MD, t.params[p.norm_D], {}, monomorph::trunk_of<R>.norm.epsilon, normed,
           t.statistics[saved.rstd_M]);
  linear(t.queue, normed, t.params[p.up_FxD], {}, up);
  relu_squared(t.queue, up, activated);
  linear_add(t.queue, activated, t.params[p.down_DxF], {}, t.x_MD, t.y_MD);
}

template <class R> void SquaredMlp<R>::recompute(const monomorph::TensorsOf<R>& t, const Saved& saved) {
  static constexpr Params p;
  const auto normed = t.activations[saved.normed_MD], up = t.activations[saved.up_MF];
  const auto rstd = t.statistics[saved.rstd_M];
  const monomorph::Recompute again = R::checkpointing::recompute(t.block);
  // What is taken without a choice, here a statistic, is there unless the whole block is computed again.
  if (again == monomorph::Recompute::block)
    rms_norm(t.queue, t.x_MD, t.params[p.norm_D], {}, monomorph::trunk_of<R>.norm.epsilon, normed, rstd);
  else if (again.norm)
    rms_norm_recompute(t.queue, t.x_MD, t.params[p.norm_D], {}, rstd, normed);
  if (again.mlp) linear(t.queue, normed, t.params[p.up_FxD], {}, up);
  if (again.activation) relu_squared(t.queue, up, t.activations[saved.activated_MF]);
}

/// The gradient of an activation takes its place.
template <class R> void SquaredMlp<R>::backward(const monomorph::TensorsOf<R>& t, const Saved& saved) {
  static constexpr Params p;
  const auto normed = t.activations[saved.normed_MD], up = t.activations[saved.up_MF],
             activated = t.activations[saved.activated_MF];
  linear_backward_weight(t.queue, t.dx_MD, activated, t.gradients[p.down_DxF], {}, t.accumulate);
  linear_backward_input(t.queue, t.dx_MD, t.params[p.down_DxF], activated);
  relu_squared_backward(t.queue, up, activated, activated);
  linear_backward_weight(t.queue, activated, normed, t.gradients[p.up_FxD], {}, t.accumulate);
  linear_backward_input(t.queue, activated, t.params[p.up_FxD], normed);
  rms_norm_backward(t.queue, normed, t.x_MD, t.params[p.norm_D], t.statistics[saved.rstd_M], t.dx_MD, true,
                    t.gradients[p.norm_D], {}, t.accumulate);
}

}  // namespace stranger
