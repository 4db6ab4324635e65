#pragma once
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Which of the tokens before it in its row a token attends to. A policy may export `template <class R> using rules =
/// RuleList<…>`.
struct AttentionAxis {
  MONOMORPH_OPTIONAL_AXIS(attention, "monomorph::attention::Causal")
  template <class P> struct Parts {
    static constexpr bool within_documents = MONOMORPH_HAS_CONSTANT(bool, within_documents);
    static constexpr bool all_hold = is_named<P> && within_documents;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[ATTN-12] an attention policy must have `static constexpr std::string_view name` "
                    "(docs/rules.md#attn-12)");
      static_assert(within_documents,
                    "[ATTN-12] an attention policy must have `static constexpr bool within_documents`: a token attends "
                    "to those of its document only, in which positions count from 0 (docs/rules.md#attn-12)");
    }
  };
};
template <class P> concept AttentionPolicy = Fits<AttentionAxis, P>;

}  // namespace monomorph
