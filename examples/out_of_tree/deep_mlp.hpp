#pragma once
#include <monomorph/block/composed_block.hpp>

namespace stranger {

/// A rule of the part's own, of what it is given and of what the recipe says.
template <int times, std::int64_t d_model> struct WidthIsBounded {
  static constexpr bool holds = 1 <= times && times * d_model <= 65'536;
  static consteval void explain() {
    static_assert(holds, "[STRANGE-02] DeepMlp<times> must have times >= 1 and times * d_model <= 65536; change times");
  }
};

/// The MLP part of a block: W₃ relu²(W₂ relu²(W₁ x)), of two hidden layers that are `times` as wide as the model.
/// M tokens, D model width, F hidden width.
template <int times> struct DeepMlp {
  template <class R> struct Part {
    using Queue = typename monomorph::device_of<R>::Queue;
    static constexpr std::int64_t D = monomorph::trunk_of<R>.d_model, F = times > 0 ? times *D : D;
    static constexpr monomorph::NormNames norm_before{"deep_norm.weight", "deep_norm.bias"};
    static constexpr monomorph::DropoutSite out_site = monomorph::DropoutSite::mlp_out;
    template <class Recipe>
    using rules = monomorph::RuleList<WidthIsBounded<times, monomorph::trunk_of<R>.d_model.value>>;

    struct Params {
      monomorph::Slice up_FxD, middle_FxF, down_DxF;
      constexpr Params(monomorph::ParameterLayout& layout, int block) {
        using enum monomorph::ParameterClass;
        const monomorph::Initializer matrix = monomorph::initializers::matrix(monomorph::trunk_of<R>);
        up_FxD = layout.take_tensor("deep.up.weight", {F, D}, linear, matrix);
        middle_FxF = layout.take_tensor("deep.middle.weight", {F, F}, linear, matrix);
        down_DxF = layout.take_tensor("deep.down.weight", {D, F}, linear,
                                      monomorph::initializers::residual_matrix(monomorph::trunk_of<R>, block));
      }
    };
    struct Saved {
      monomorph::Slice up_MF, up_activated_MF, middle_MF, activated_MF;
      constexpr Saved(monomorph::SavedPlacement activations, monomorph::SavedPlacement /*statistics*/, std::int64_t M)
          : up_MF(activations.take({M, F}, &monomorph::Recompute::mlp)),
            up_activated_MF(activations.take({M, F}, &monomorph::Recompute::activation)),
            middle_MF(activations.take({M, F}, &monomorph::Recompute::mlp)),
            activated_MF(activations.take({M, F}, &monomorph::Recompute::activation)) {}
    };
    using Temporary = monomorph::Nothing;
    struct DecodeTemporary {
      monomorph::Slice up_BF, middle_BF;
      constexpr DecodeTemporary(monomorph::Layout& activations, monomorph::Layout& /*statistics*/, std::int64_t B)
          : up_BF(activations.take({B, F})), middle_BF(activations.take({B, F})) {}
    };
    using DecodeCache = monomorph::Nothing;

    static constexpr std::int64_t compute_flops_per_token(monomorph::Recompute what) {
      return what.mlp ? 2 * F * D + 2 * F * F : 0;
    }
    static constexpr std::int64_t projection_flops_per_token() { return 2 * F * D; }
    static constexpr std::int64_t matmul_flops_per_token() {
      return compute_flops_per_token(monomorph::Recompute::block) + projection_flops_per_token();
    }
    template <class Recipe> static void describe(auto& to) { to.add("two hidden layers of width ", F); }

    // Kernels are found by the type of the queue, and views are known, where a program is made of a recipe.
    /// In forward `what` is all; before backward it is what a policy chooses to compute again.
    static void compute(const monomorph::PartTensors<Part>& t, const auto& in, monomorph::Recompute what) {
      const auto up = t.activation(t.saved.up_MF), up_activated = t.activation(t.saved.up_activated_MF),
                 middle = t.activation(t.saved.middle_MF);
      if (what.mlp) linear(t.queue, in, t.param(t.p.up_FxD), {}, up);
      if (what.activation) relu_squared(t.queue, up, up_activated);
      if (what.mlp) linear(t.queue, up_activated, t.param(t.p.middle_FxF), {}, middle);
      if (what.activation) relu_squared(t.queue, middle, t.activation(t.saved.activated_MF));
    }
    static void project(const monomorph::PartTensors<Part>& t, const auto& residual, const auto& out) {
      linear_add(t.queue, t.activation(t.saved.activated_MF), t.param(t.p.down_DxF), {}, residual, out);
    }
    /// The gradient of an activation takes its place.
    static void backward(const monomorph::PartTensors<Part>& t, const auto& in, const auto& dout, const auto& din,
                         bool accumulate) {
      const auto up_activated = t.activation(t.saved.up_activated_MF), activated = t.activation(t.saved.activated_MF);
      linear_backward_weight(t.queue, dout, activated, t.gradient(t.p.down_DxF), {}, t.t.accumulate);
      linear_backward_input(t.queue, dout, t.param(t.p.down_DxF), activated);
      relu_squared_backward(t.queue, t.activation(t.saved.middle_MF), activated, activated);
      linear_backward_weight(t.queue, activated, up_activated, t.gradient(t.p.middle_FxF), {}, t.t.accumulate);
      linear_backward_input(t.queue, activated, t.param(t.p.middle_FxF), up_activated);
      relu_squared_backward(t.queue, t.activation(t.saved.up_MF), up_activated, up_activated);
      linear_backward_weight(t.queue, up_activated, in, t.gradient(t.p.up_FxD), {}, t.t.accumulate);
      linear_backward_input(t.queue, up_activated, t.param(t.p.up_FxD), din, accumulate);
    }
    static void decode(const monomorph::PartDecode<Part>& t, const auto& in, const auto& residual, const auto& out) {
      const auto up = t.activation(t.temporary.up_BF), middle = t.activation(t.temporary.middle_BF);
      linear(t.queue, in, t.param(t.p.up_FxD), {}, up);
      relu_squared(t.queue, up, up);
      linear(t.queue, up, t.param(t.p.middle_FxF), {}, middle);
      relu_squared(t.queue, middle, middle);
      linear_add(t.queue, middle, t.param(t.p.down_DxF), {}, residual, out);
    }
  };
};

}  // namespace stranger
