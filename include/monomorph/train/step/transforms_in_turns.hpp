#pragma once
#include <monomorph/train/step/state.hpp>
#include <monomorph/train/step/transform_rounds.hpp>

namespace monomorph::train {

/// Matrices that ranks take turns to transform (plan/transform_turns.hpp). A round has four parts: its units are
/// collected, each at one rank; transformed; given back; and updated. Rounds are transformed one ahead of those that
/// are updated, so while a round is transformed the one before is on its way back, and the next one is collected.
template <Recipe R> class TransformsInTurns {
  using Hparams = typename R::optimizer::Hparams;

 public:
  /// @param communicator whose trace tells of what is computed
  TransformsInTurns(State<R>& state, Communicator& communicator) : state_(state), communicator_(communicator) {
    const GradientStore<R>& gradients = state.gradients;
    for (int u = 0; u < plan::n_stored_units<R>; ++u)
      if (plan::transforms<R>(u) && gradients.shard(u).present())  // inference has no gradients
        rounds_.add(u, communicator.shards(), communicator.shard_index(), gradients.shard(u),
                    {gradients.whole_in(0, u), gradients.whole_in(1, u)});
  }

  void before_updates(const Hparams& hparams, const UpdateTerms& terms) {
    state_.gradients.forget();  // what backward left in the places of whole gradients
    collect(0, hparams, terms);
    transform(0, hparams, terms);
  }
  void before_update(int u, const Hparams& hparams, const UpdateTerms& terms) {
    const int k = rounds_.beginning_with(u);
    if (k < 0) return;
    transform(k + 1, hparams, terms);
    state_.collectives.wait(u);
  }

 private:
  void collect(int k, const Hparams& hparams, const UpdateTerms& terms) {
    if (k >= rounds_.size()) return;
    const TransformRounds::Round& round = rounds_[k];
    for (const int u : round.units) state_.optimizer.prepare(u, hparams, terms);
    state_.collectives.all_to_all(round.units.front(), round.of_units, round.of_whole);
  }
  void transform(int k, const Hparams& hparams, const UpdateTerms& terms) {
    if (k >= rounds_.size()) return;
    collect(k + 1, hparams, terms);
    const TransformRounds::Round& round = rounds_[k];
    state_.collectives.wait(round.units.front());
    if (round.own >= 0) {
      const auto span = communicator_.trace_compute("transform", round.own);
      state_.optimizer.transform(round.own, round.whole, hparams);
    }
    state_.collectives.all_to_all(round.units.front(), round.of_whole, round.of_units);
  }

  State<R>& state_;
  Communicator& communicator_;
  TransformRounds rounds_;
};

}  // namespace monomorph::train
