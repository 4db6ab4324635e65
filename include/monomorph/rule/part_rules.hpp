#pragma once
#include <monomorph/block/composed_block.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/attention_policy.hpp>
#include <type_traits>

/// Rules about the parts that blocks are composed of (block/part.hpp): that a block can be made of them. They are
/// judged before the rules about blocks, whose members are made of those of the parts.
namespace monomorph::rule {

/// What only the queue's kernels can tell more of.
struct PartCalls {
  /// Said of one without these functions, and below the firewall of one where they cannot be called.
  template <class Part, bool can_pass> static consteval void explain_passes() {
    static_assert(
        can_pass,
        "[LAYER-18] a part of a block must have `static void compute(const monomorph::PartTensors<Part>&, "
        "monomorph::View in, monomorph::Recompute what)`, and project and backward as block/part.hpp lists them "
        "(docs/rules.md#layer-18)");
  }
  template <class Part, bool can_decode> static consteval void explain_decode() {
    static_assert(can_decode,
                  "[LAYER-18] decode of a part, if it has one, must be `static void decode(const "
                  "monomorph::PartDecode<Part>&, monomorph::View in, monomorph::View residual, monomorph::View out)`, "
                  "beside `struct DecodeTemporary` and `struct DecodeCache` (docs/rules.md#layer-18)");
  }
};

/// @tparam Part of a block over the tower R, in this order   @tparam attends whether it is the attention part
template <class Part, class R, BlockOrder order, bool attends> struct PartFits {
  using Look = LookUpPart;
  static constexpr bool is_base = detail::is_base<Part>;
  static constexpr bool queue = requires {
    requires std::is_same_v<typename Part::Queue, typename device_of<R>::Queue>;
  };
  static constexpr bool params = requires {
    requires std::is_constructible_v<typename Part::Params, ParameterLayout&, int>;
  };
  static constexpr bool saved = requires {
    requires std::is_constructible_v<typename Part::Saved, SavedPlacement, SavedPlacement, std::int64_t>;
  };
  static constexpr bool temporary = requires {
    requires std::is_constructible_v<typename Part::Temporary, Layout&, std::int64_t>;
  };
  static constexpr bool flops = requires {
    requires std::is_same_v<decltype(Part::matmul_flops_per_token()), std::int64_t>;
    typename Constant<Part::matmul_flops_per_token()>;
  };
  static constexpr bool computation = !Look::has_compute_flops_per_token<Part> || requires {
    requires std::is_same_v<decltype(Part::compute_flops_per_token(Recompute{})), std::int64_t>;
    typename Constant<Part::compute_flops_per_token(Recompute{})>;
  };
  static constexpr bool projection = !Look::has_projection_flops_per_token<Part> || requires {
    requires std::is_same_v<decltype(Part::projection_flops_per_token()), std::int64_t>;
    typename Constant<Part::projection_flops_per_token()>;
  };
  static constexpr bool norm_before = order == BlockOrder::parallel || requires {
    requires std::is_same_v<decltype(&Part::norm_before), const NormNames*>;
  };
  static constexpr bool norm_after = order != BlockOrder::sandwich_norm || requires {
    requires std::is_same_v<decltype(&Part::norm_after), const NormNames*>;
  };
  static constexpr bool out_site = !drops_residual<R> || requires {
    requires std::is_same_v<decltype(&Part::out_site), const DropoutSite*>;
  };
  static constexpr bool policy = !attends || requires { requires AttentionPolicy<typename Part::Policy>; };
  static constexpr bool attention_flops = !attends || requires {
    requires std::is_same_v<decltype(Part::attention_flops_per_token()), double>;
    typename Constant<(Part::attention_flops_per_token() > 0)>;
  };
  static constexpr bool passes = Look::has_compute<Part> && Look::has_project<Part> && Look::has_backward<Part>;
  static constexpr bool decode = !Look::has_decode<Part> || requires {
    requires std::is_constructible_v<typename Part::DecodeTemporary, Layout&, Layout&, std::int64_t>;
    requires std::is_constructible_v<typename Part::DecodeCache, Layout&, std::int64_t>;
  };
  static constexpr bool holds = is_base && queue && params && saved && temporary && flops && computation &&
                                projection && norm_before && norm_after && out_site && policy && attention_flops &&
                                passes && decode;

  static consteval void explain() {
    static_assert(is_base,
                  "[LAYER-18] a part of a block must be a class that is not final, as its members are looked up in a "
                  "type that derives from it; change the block's part (docs/rules.md#layer-18)");
    if constexpr (is_base) {
      static_assert(queue,
                    "[LAYER-18] a part of a block must have `using Queue = typename monomorph::device_of<R>::Queue`: "
                    "what its kernels take first (docs/rules.md#layer-18)");
      static_assert(params,
                    "[LAYER-18] a part of a block must have `struct Params` with `constexpr "
                    "Params(monomorph::ParameterLayout&, int block)`: its tensors (docs/rules.md#layer-18)");
      static_assert(saved,
                    "[LAYER-18] a part of a block must have `struct Saved` with `constexpr Saved(SavedPlacement "
                    "activations, SavedPlacement statistics, std::int64_t M)`: what backward reads "
                    "(docs/rules.md#layer-18)");
      static_assert(temporary,
                    "[LAYER-18] a part of a block must have `struct Temporary` with `constexpr Temporary(Layout&, "
                    "std::int64_t M)`: what backward uses besides (docs/rules.md#layer-18)");
      static_assert(flops,
                    "[LAYER-18] a part of a block must have `static constexpr std::int64_t matmul_flops_per_token()`: "
                    "of products with parameters, forward (docs/rules.md#layer-18)");
      static_assert(computation,
                    "[LAYER-18] compute_flops_per_token of a part, if it has one, must be `static constexpr "
                    "std::int64_t compute_flops_per_token(monomorph::Recompute what)`: of the products of compute "
                    "(docs/rules.md#layer-18)");
      static_assert(projection,
                    "[LAYER-18] projection_flops_per_token of a part, if it has one, must be `static constexpr "
                    "std::int64_t projection_flops_per_token()`: of the products of project (docs/rules.md#layer-18)");
      static_assert(norm_before,
                    "[LAYER-18] a part of a block must have `static constexpr monomorph::NormNames norm_before`: the "
                    "tensors of the norm beside it (docs/rules.md#layer-18)");
      static_assert(norm_after,
                    "[LAYER-18] a part of a block in the order sandwich_norm must have `static constexpr "
                    "monomorph::NormNames norm_after`: the tensors of the norm behind it (docs/rules.md#layer-18)");
      static_assert(out_site,
                    "[LAYER-18] a part of a block that drops its residual must have `static constexpr "
                    "monomorph::DropoutSite out_site`, to tell its masks from others (docs/rules.md#layer-18)");
      static_assert(policy,
                    "[LAYER-18] an attention part must have a type `Policy`, an attention policy such as "
                    "monomorph::attention_of<R>: what its tokens see (docs/rules.md#layer-18)");
      static_assert(attention_flops,
                    "[LAYER-18] an attention part must have `static constexpr double attention_flops_per_token()`: of "
                    "scores and values, forward (docs/rules.md#layer-18)");
      PartCalls::explain_passes<Part, passes>();
      PartCalls::explain_decode<Part, decode>();
    }
  }
};

/// The recipe, or the recipe with another shape, attention or rotary positions.
template <class T> concept IsTower = requires { requires detail::HasModelKind<SpecOf<T>>; };

/// A block that is composed as ComposedBlock is.
template <class Block> concept IsComposed = requires {
  requires IsTower<typename Block::Tower>;
  typename Block::AttentionPart;
  typename Block::MlpPart;
  requires std::is_same_v<decltype(&Block::block_order), const BlockOrder*>;
};
template <class Block> consteval auto rules_of_parts() {
  if constexpr (IsComposed<Block>)
    return RuleList<PartFits<typename Block::AttentionPart, typename Block::Tower, Block::block_order, true>,
                    PartFits<typename Block::MlpPart, typename Block::Tower, Block::block_order, false>>{};
  else
    return RuleList<>{};
}
template <class R, class... Runs> consteval auto composition_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + rules_of_parts<typename Runs::template block<R>>());
}
template <class R> consteval auto composition_rules() { return composition_rules_of<R>(layers_of<R>); }

}  // namespace monomorph::rule
