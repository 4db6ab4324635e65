#pragma once
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/attention_mask.hpp>

namespace monomorph {

/// Which tokens of its row a token attends to. A policy may export `template <class R> using rules = RuleList<…>`.
struct AttentionAxis {
  MONOMORPH_OPTIONAL_AXIS(attention, "monomorph::attention::Causal")
  template <class P> struct Parts {
    static constexpr bool mask = MONOMORPH_HAS_CONSTANT(AttentionMask, mask);
    static constexpr bool within_documents = MONOMORPH_HAS_CONSTANT(bool, within_documents);
    static constexpr bool all_hold = mask && within_documents;
    static consteval void explain() {
      static_assert(mask,
                    "[ATTN-12] an attention policy must have `static constexpr monomorph::AttentionMask mask`: how far "
                    "before itself and behind a token sees (docs/rules.md#attn-12)");
      static_assert(within_documents,
                    "[ATTN-12] an attention policy must have `static constexpr bool within_documents`: a token attends "
                    "to those of its document only, in which positions count from 0 (docs/rules.md#attn-12)");
    }
  };
};
template <class P> concept AttentionPolicy = Fits<AttentionAxis, P>;

}  // namespace monomorph
