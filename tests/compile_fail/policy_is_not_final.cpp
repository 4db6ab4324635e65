// expect-error: \[RECIPE-11\] sharding must be a type that is not final
// expect-error: \[RECIPE-11\] a kind of model must be a type that is not final
// expect-error: \[RECIPE-11\] a layer must be a type that is not final
#include "support/kind.hpp"
#if NEGATIVE
#define FINAL final
#else
#define FINAL
#endif
struct Sharding FINAL : monomorph::sharding::FullShard {};
struct Case : Control {
  using sharding = Sharding;
};
static_assert(monomorph::admit<Case>());
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <> struct monomorph::ModelKind<OwnSpec<0>> FINAL : OwnKind<0, LayerParts> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
template <class R> struct Block FINAL : monomorph::DecoderBlock<R> {};
struct BlockCase : Control {
  using layers = monomorph::Stack<monomorph::Run<Block, 6>>;
};
static_assert(monomorph::admit<BlockCase>());
