// expect-error: \[KIND-07\] the last layer of a kind of model that makes logits must have `static void decode
// expect-error: \[KIND-07\] the last layer of a kind of model that makes embeddings must have `template <class Queue>
// static monomorph::View embeddings
#include "support/encoder.hpp"
#include "support/kind.hpp"
#if NEGATIVE
template <class R> using Last = LayerParts<R>;
#else
template <class R> struct Last : LastParts<R> {
  template <class Queue>
  static monomorph::View embeddings(const typename LayerParts<R>::Saved&, const monomorph::View& all_statistics,
                                    const monomorph::QueuedCommunicator<Queue>&);
};
#endif
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnHeadKind<0, LayerParts, Last> {};
static_assert(monomorph::admit<OwnRecipe<0>>());
MONOMORPH_SPEC(OwnSpec<1>, decoder);
template <> struct monomorph::ModelKind<OwnSpec<1>> : OwnHeadKind<1, LayerParts, Last> {
  static constexpr ModelOutput output = ModelOutput::embeddings;
};
struct Case : EncoderControl {
  static constexpr OwnSpec<1> model = OwnRecipe<1>::model;
};
static_assert(monomorph::admit<Case>());
