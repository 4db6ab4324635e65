// expect-error: \[KIND-05\] tied_head of what trunk\(\) returns must be what the layers do
#include "support/kind.hpp"
MONOMORPH_SPEC(OwnSpec<0>, decoder);
#if NEGATIVE
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, LayerParts, LastParts> {};
#else
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnHeadKind<0, LayerParts, LastParts> {};
#endif
static_assert(monomorph::admit<OwnRecipe<0>>());
