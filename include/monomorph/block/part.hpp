#pragma once
#include <monomorph/block/initializers.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/block/saved_placement.hpp>
#include <monomorph/block/tensors_of.hpp>
#include <monomorph/core/look_up.hpp>
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/spec/tensor_info.hpp>

/// What the parts of a block have in common. A part is attention or an MLP, a template over the tower that it belongs
/// to: the recipe, or the recipe with another model or attention. Here, above the firewall, is what the plan must know
/// of a part: its parameters, what its backward reads, its temporaries and its FLOPs. The bodies are in model/, in a
/// header of the same name. A part of one's own has both in one file (docs/guides/add_a_block.md). It has
///
/// - `Queue`, that of the recipe's device; `Params{layout, block}`, `Saved{activations, statistics, M}` and
///   `Temporary{layout, M}`, which are parts of the block's; `matmul_flops_per_token()`.
/// - `norm_before`, and `norm_after` if its block may have an order with a norm behind the part: names of tensors.
///   `out_site`, if its block may drop what the part gives.
/// - `Policy` and `attention_flops_per_token()`, if it is the attention part: what its tokens see.
///
/// and the functions
///
/// - `compute(t, in, what)` fills Saved from the part's input: all in forward, where `what` is Recompute::block, and
///   again what a policy chooses. What is not chosen is there. `compute_flops_per_token(what)` are those of its
///   products with parameters.
/// - `project(t, residual, out)` makes out = residual + the part's result, or the result alone without a residual.
///   `projection_flops_per_token()` are those of its products. Both together are `matmul_flops_per_token()`.
/// - `backward(t, in, dout, din, accumulate)` sets din to the gradient of `in`, or adds it. `din` may be
///   `in`, and may be `dout` where it is added to.
/// - `decode(t, in, residual, out)` does the same for new tokens of sequences; what came before them is in the cache.
///   It may be left out, with `DecodeTemporary` and `DecodeCache`: a block with such a part has no `decode` either.
///
/// Products in fp8 are for SelfAttention and DenseMlp, whose members of block/scaled_products.hpp say what they keep.
/// Where Sublayer::rounds_in holds, their `in` is 8 bits, transposed, with the rows in the room of the first product.
/// A part that derives from one of them gets bf16. It may call the functions of that one, and must neither read nor
/// write what they keep in Saved, which may be of 8 bits.
///
/// rule/part_rules.hpp has a message for each that lacks. What else a part may say, its own `rules` among it, is what a
/// block may say (block/layer.hpp).
namespace monomorph {

struct View;                               // runtime/memory/view.hpp
template <class Part> struct PartTensors;  // model/part_tensors.hpp
template <class Part> struct PartDecode;   // model/part_tensors.hpp

/// What a part has, or may leave out, that only the queue's kernels can tell more of.
MONOMORPH_LOOK_UPS(LookUpPart, compute, project, backward, decode, compute_flops_per_token, projection_flops_per_token);

/// What tells the dropout masks of a block apart. Never renumbered: masks depend on it.
enum class DropoutSite : unsigned { attention = 1, attention_out = 2, mlp_out = 3 };

/// The names of a norm's tensors.
struct NormNames {
  std::string_view weight, bias;
};

struct NormParams {
  Slice weight_D, bias_D;
  constexpr NormParams() = default;
  constexpr NormParams(ParameterLayout& layout, const NormSpec& norm, const NormNames& names, std::int64_t width)
      : weight_D(layout.take_tensor(names.weight, {1, width}, ParameterClass::norm, initializers::norm_weight(norm))) {
    if (norm.bias) bias_D = layout.take_tensor(names.bias, {1, width}, ParameterClass::bias, initializers::zero);
  }
};

struct NormStatistics {
  Slice mean, rstd;
  constexpr NormStatistics() = default;
  /// @param statistics anything that takes slices
  constexpr NormStatistics(auto& statistics, const NormSpec& norm, Shape shape) {
    if (norm.kind == NormKind::layer_norm) mean = statistics.take(shape);
    rstd = statistics.take(shape);
  }
};

}  // namespace monomorph
