// expect-error: \[DISTIL-02\] the last layer of a model that learns from a teacher must be VocabularyHead
// expect-text: StudentMakesLogits<LastParts<
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
#if NEGATIVE
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnHeadKind<0, LayerParts, LastParts> {};
#else
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, LayerParts> {};
#endif
struct Case : OwnRecipe<0> {
  using objective = monomorph::objective::Distillation<Control>;
};
static_assert(monomorph::admit<Case>());
