// expect-error: \[ATTN-12\] an attention policy must have `static constexpr monomorph::AttentionMask mask`
// expect-error: \[ATTN-12\] an attention policy must have `static constexpr bool within_documents`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static constexpr bool inside_documents = true;
#else
  static constexpr monomorph::AttentionMask mask{};
  static constexpr bool within_documents = true;
#endif
};
struct Case : Control {
  using attention = Own;
};
static_assert(monomorph::admit<Case>());
