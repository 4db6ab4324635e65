#pragma once
#include <monomorph/train/step/state.hpp>

namespace monomorph::train {

/// Matrices that each rank transforms itself, where it holds whole gradients, or where the optimiser's state is on the
/// device for one unit at a time. If ranks split gradients it gathers them, while the unit before is transformed and
/// updated.
template <Recipe R> class TransformsOfAll {
  using Hparams = typename R::optimizer::Hparams;

 public:
  /// @param communicator as of TransformsInTurns
  TransformsOfAll(State<R>& state, Communicator& communicator) : state_(state), communicator_(communicator) {}

  void before_updates(const Hparams& hparams, const UpdateTerms& terms) { prepare(0, hparams, terms); }
  void before_update(int u, const Hparams& hparams, const UpdateTerms& terms) {
    if (u + 1 < plan::n_stored_units<R>) prepare(u + 1, hparams, terms);
    if (!state_.optimizer.transforms(u)) return;
    state_.collectives.wait(u);
    const auto span = communicator_.trace_compute("transform", u);
    state_.optimizer.transform(u, state_.gradients.whole(u), hparams);
  }

 private:
  void prepare(int u, const Hparams& hparams, const UpdateTerms& terms) {
    if (!state_.optimizer.transforms(u)) return;
    state_.optimizer.prepare(u, hparams, terms);
    state_.gradients.gather(u);
  }

  State<R>& state_;
  Communicator& communicator_;
};

}  // namespace monomorph::train
