#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/attention_policy.hpp>
#include <monomorph/policy/axis.hpp>
#include <type_traits>

/// Rules about blocks: first that their parts are there, then what the parts say. They are judged when all values of
/// the recipe are in order.
namespace monomorph::rule {

/// The tensors are known at compile time. The front end of nvcc 13 can evaluate this only once, so it does not check
/// it.
template <class Params> inline constexpr bool is_constexpr_layout = requires {
  requires std::is_default_constructible_v<Params> && std::is_constructible_v<Params, int>;
#ifndef __CUDACC__
  typename Constant<(Params{}.size() + Params{1}.size())>;
#endif
};

/// Each part of a block is a rule with a message of its own.
template <class Block> struct BlockHasParams {
  static constexpr bool holds = requires {
    requires std::is_base_of_v<ParameterLayout, typename Block::Params> && is_constexpr_layout<typename Block::Params>;
  };
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-01] a block must have `struct Params : monomorph::ParameterLayout` with `constexpr explicit "
                  "Params(int block = 0)`: its tensors (docs/rules.md#layer-01)");
  }
};
template <class Block> struct BlockHasSaved {
  static constexpr bool holds = requires {
    requires std::is_constructible_v<typename Block::Saved, SavedPlacement, SavedPlacement, std::int64_t>;
  };
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-02] a block must have `struct Saved` with `constexpr Saved(SavedPlacement activations, "
                  "SavedPlacement statistics, std::int64_t M)`: what backward reads (docs/rules.md#layer-02)");
  }
};
template <class Block> struct BlockHasTemporary {
  static constexpr bool holds = requires {
    requires std::is_constructible_v<typename Block::Temporary, Layout&, std::int64_t>;
  };
  static consteval void explain() {
    static_assert(
        holds,
        "[LAYER-03] a block must have `struct Temporary` with `constexpr Temporary(Layout&, std::int64_t M)`: "
        "what backward uses besides (docs/rules.md#layer-03)");
  }
};
template <class Block> struct BlockHasFlops {
  static constexpr bool holds = requires {
    requires std::is_same_v<decltype(Block::matmul_flops_per_token()), std::int64_t>;
    typename Constant<Block::matmul_flops_per_token()>;
  };
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-04] a block must have `static constexpr std::int64_t matmul_flops_per_token()`: of products "
                  "with parameters, forward (docs/rules.md#layer-04)");
  }
};
template <class Block, class R> struct BlockHasPasses {
  static constexpr bool holds = requires(const TensorsOf<R>& tensors, const typename Block::Saved& saved) {
    Block::forward(tensors, saved);
    Block::recompute(tensors, saved);
    Block::backward(tensors, saved);
  };
  static consteval void explain() {
    static_assert(
        holds,
        "[LAYER-05] a block must have `static void forward(const TensorsOf<R>&, const Saved&)`, and recompute "
        "and backward alike, or derive from monomorph::AutogradBlock (docs/rules.md#layer-05)");
  }
};
/// A block that cannot decode needs neither.
template <class Block, class R> struct DecodingBlockHasTemporaries {
  static constexpr bool holds = !requires(const DecodeTensorsOf<R>& tensors) { Block::decode(tensors); }
  || requires {
    requires std::is_constructible_v<typename Block::DecodeTemporary, Layout&, Layout&, std::int64_t>;
    requires std::is_constructible_v<typename Block::DecodeCache, Layout&, std::int64_t>;
  };
  static consteval void explain() {
    static_assert(
        holds,
        "[LAYER-14] a block that has `decode` must have `struct DecodeTemporary` with `constexpr "
        "DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)` and `struct DecodeCache` "
        "with `constexpr DecodeCache(Layout&, std::int64_t rows)`: what decoding needs (docs/rules.md#layer-14)");
  }
};
template <class Block, class R>
using BlockParts = RuleList<DecodingBlockHasTemporaries<Block, R>, BlockHasParams<Block>, BlockHasSaved<Block>,
                            BlockHasTemporary<Block>, BlockHasFlops<Block>, BlockHasPasses<Block, R>>;

/// What is true of a unit's tensors, found in one pass. Each fact must be true.
struct LayoutFacts {
  int tensors = 0;
  bool named_apart = true, shaped = true, within_unit = true, apart = true, started = true;
  constexpr explicit LayoutFacts(const ParameterLayout& layout) : tensors(layout.size()) {
    const int known = tensors < ParameterLayout::capacity ? tensors : ParameterLayout::capacity;
    for (int i = 0; i < known; ++i) {
      const TensorInfo& tensor = layout[i];
      const Slice& slice = tensor.slice;
      shaped = shaped && slice.shape.rows > 0 && slice.shape.cols > 0 && tensor.matrices > 0 &&
               slice.shape.rows % tensor.matrices == 0;
      within_unit = within_unit && slice.offset >= 0 && end_of(slice) <= layout.elements;
      const auto& [mean, std, cutoff, half_width] = tensor.initializer;
      started = started && std >= 0 && cutoff >= 0 && half_width >= 0 && (std == 0 || half_width == 0);
      for (int j = 0; j < i; ++j) {
        named_apart = named_apart && layout[j].name != tensor.name;
        apart = apart && (end_of(layout[j].slice) <= slice.offset || end_of(slice) <= layout[j].slice.offset);
      }
    }
  }

 private:
  static constexpr std::int64_t end_of(const Slice& slice) { return slice.offset + slice.shape.elements(); }
};
constexpr bool equal_layouts(const ParameterLayout& a, const ParameterLayout& b) {
  bool equal = a.size() == b.size() && a.elements == b.elements;
  for (int i = 0; equal && i < a.size() && i < ParameterLayout::capacity; ++i)
    equal = a[i].name == b[i].name && a[i].slice.offset == b[i].slice.offset && a[i].slice.shape == b[i].slice.shape &&
            a[i].parameter_class == b[i].parameter_class && a[i].matrices == b[i].matrices;
  return equal;
}

template <class Block, int tensors> struct TensorsWithinCapacity {
  static constexpr bool holds = tensors <= ParameterLayout::capacity;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-06] a block must have at most 40 tensors; change its Params, or raise "
                  "ParameterLayout::capacity (docs/rules.md#layer-06)");
  }
};
template <class Block, bool named_apart> struct TensorsNamedApart {
  static constexpr bool holds = named_apart;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-07] each tensor of a block must have a name of its own, by which checkpoints know it; change "
                  "its Params (docs/rules.md#layer-07)");
  }
};
template <class Block, bool shaped> struct TensorsHaveElements {
  static constexpr bool holds = shaped;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-08] each tensor of a block must have rows and columns, as many rows in each of its matrices; "
                  "change its Params "
                  "(docs/rules.md#layer-08)");
  }
};
template <class Block, bool within_unit> struct TensorsWithinUnit {
  static constexpr bool holds = within_unit;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-09] each tensor of a block must lie in what its Params take; change the rows of add_part "
                  "(docs/rules.md#layer-09)");
  }
};
template <class Block, bool apart> struct TensorsLieApart {
  static constexpr bool holds = apart;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-10] no two tensors of a block must share elements; change the rows of add_part "
                  "(docs/rules.md#layer-10)");
  }
};
template <class Block, bool started> struct TensorsStartWithin {
  static constexpr bool holds = started;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-11] each tensor of a block must start with std >= 0 and cutoff >= 0; change the initializers "
                  "of its Params (docs/rules.md#layer-11)");
  }
};
template <class Block, int length, bool equal> struct BlocksOfRunAlike {
  static constexpr bool holds = equal;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-12] all blocks of a run must have the same tensors, as the plan counts them once; change "
                  "Params(int block), or give the blocks runs of their own (docs/rules.md#layer-12)");
  }
};
template <class R, bool names_attention, bool any_attends> struct AttentionIsRead {
  static constexpr bool holds = !names_attention || any_attends;
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-13] attention must be left out where no block of layers attends (none has "
                  "attention_flops_per_token()), as nothing reads it; change attention or layers "
                  "(docs/rules.md#layer-13)");
  }
};

template <class Block, int first, int length> consteval auto layout_rules_of_run() {
  using Params = typename Block::Params;
  constexpr LayoutFacts facts{Params{first}};
  // Only the ends of a run are compared: blocks that differ do so there, and comparing all takes the compiler long.
  constexpr bool equal = equal_layouts(Params{}, Params{first}) && equal_layouts(Params{}, Params{first + length - 1});
  return RuleList<TensorsWithinCapacity<Block, facts.tensors>, TensorsNamedApart<Block, facts.named_apart>,
                  TensorsHaveElements<Block, facts.shaped>, TensorsWithinUnit<Block, facts.within_unit>,
                  TensorsLieApart<Block, facts.apart>, TensorsStartWithin<Block, facts.started>,
                  BlocksOfRunAlike<Block, length, equal>>{};
}

template <class Block> concept Attends = requires { Block::attention_flops_per_token(); };

template <class R, class... Runs> consteval auto block_part_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + BlockParts<typename Runs::template block<R>, R>{});
}
template <class R> consteval auto block_part_rules() { return block_part_rules_of<R>(layers_of<R>); }

template <class R, int first> consteval auto layout_rules_of_runs(Stack<>) { return RuleList<>{}; }
template <class R, int first, class Run, class... Runs> consteval auto layout_rules_of_runs(Stack<Run, Runs...>) {
  return layout_rules_of_run<typename Run::template block<R>, first, Run::length>() +
         layout_rules_of_runs<R, first + Run::length>(Stack<Runs...>{});
}
template <class R, class... Runs> consteval bool any_attends(Stack<Runs...>) {
  return (Attends<typename Runs::template block<R>> || ...);
}
template <class R> consteval auto block_layout_rules() {
  return layout_rules_of_runs<R, 0>(layers_of<R>) +
         RuleList<AttentionIsRead<R, AttentionAxis::named<R>, any_attends<R>(layers_of<R>)>>{};
}

/// The rules that blocks export.
template <class R, class... Runs> consteval auto exported_block_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + exported_rules<typename Runs::template block<R>, R>());
}
template <class R> consteval auto exported_block_rules() { return exported_block_rules_of<R>(layers_of<R>); }

}  // namespace monomorph::rule
