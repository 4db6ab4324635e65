#pragma once
#include <monomorph/train/step/cached_token_pass.hpp>
#include <monomorph/train/step/recomputing_token_pass.hpp>
#include <monomorph/train/step/step.hpp>

namespace monomorph::train {

/// A step whose model can also extend sequences token by token, as that of a recipe's program can. Who only trains and
/// evaluates makes a Step, for which no decoder is compiled.
template <Recipe R> class GeneratingStep final : public Step<R> {
 public:
  using Step<R>::Step;

  Owned<TokenPass> token_pass(const PassSizes& sizes) override {
    State<R>& state = this->state_;
    if constexpr (makes_embeddings<R>)
      return nullptr;
    else if constexpr (every_layer_decodes<R>)
      return make_owned<CachedTokenPass<R>>(state.queue(), sizes, state.parameters, state.rotary_tables());
    else
      return make_owned<RecomputingTokenPass<R>>(state.queue(), sizes, *this,
                                                 state.parameters.of_unit(plan::head_unit<R>), state.batch());
  }
};

}  // namespace monomorph::train
