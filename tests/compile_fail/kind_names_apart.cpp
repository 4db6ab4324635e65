// expect-error: \[KIND-06\] each tensor of the layers around the blocks must have a name of its own
// expect-error: \[OWN-01\] of a layer around the blocks
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
struct Own {
  static constexpr bool holds = !NEGATIVE;
  static consteval void explain() { static_assert(holds, "[OWN-01] of a layer around the blocks"); }
};
template <class R> struct Named : LayerParts<R> {
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      take_tensor(NEGATIVE ? "embedding.weight" : "own.weight", {1, 64}, monomorph::ParameterClass::norm,
                  monomorph::initializers::one);
    }
  };
  template <class Recipe> using rules = monomorph::RuleList<Own>;
};
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, Named> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
