#pragma once
#include <concepts>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// What a unit is to the model: the table of tokens (with the head, if that is tied to it), a block, or a head of its
/// own.
enum class UnitKind { embedding, block, head };

/// Which units are trained. Any other is frozen: it has no gradients, no optimizer state and no update, and backward
/// ends at the lowest unit that is trained. A policy may export `template <class R> using rules = RuleList<…>`.
struct FinetuningAxis {
  MONOMORPH_OPTIONAL_AXIS(finetuning, "monomorph::finetuning::FreezeFirst<2>")
  template <class P> struct Parts {
    static constexpr bool trains = requires(UnitKind kind, int block) {
      { P::trains(kind, block) } -> std::same_as<bool>;
      typename Constant<P::trains(UnitKind::block, 0)>;
    };
    static constexpr bool all_hold = trains;
    static consteval void explain() {
      static_assert(trains,
                    "[FREEZE-01] a finetuning policy must have `static constexpr bool trains(monomorph::UnitKind kind, "
                    "int block)`: whether the embedding, a block or the head is trained (docs/rules.md#freeze-01)");
    }
  };
};
template <class P> concept FinetuningPolicy = Fits<FinetuningAxis, P>;

}  // namespace monomorph
