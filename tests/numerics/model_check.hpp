#pragma once
#include "numerics/model_axes.hpp"
#include "support/reference_model.hpp"

#include <monomorph/train/step/generating_step.hpp>

#include <memory>
#include <utility>

namespace monomorph::testing {

inline constexpr std::int64_t model_batch = 2;

/// A recipe without its type, so that what is checked of it is compiled once.
struct ModelCase {
  int row;
  const DecoderSpec* model;
  bool within_documents;
  std::vector<ReferenceLayer> layers;
  Owned<train::TrainingStep> (*make_step)(Communicator&, std::uint64_t seed);
  Owned<train::InferenceModel> (*make_inference_model)(Communicator&);
  Sees sees = sees_causally;
};

/// Loss and gradients of training, the loss of evaluation and the logits of decoding, against fp64 autograd, to 1e-9.
/// A model for inference has the bits of the step.
void check_model(const ModelCase& model);

template <class R> std::vector<ReferenceLayer> reference_layers() {
  std::vector<ReferenceLayer> layers;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    ReferenceLayer layer{Block::Tower::model, Block::block_order};
    if constexpr (requires { Block::MlpPart::mixture; }) layer.mixture = Block::MlpPart::mixture;
    if constexpr (HasAdapters<R>) layer.low_rank = finetuning_of<R>::low_rank;
    layers.insert(layers.end(), run.length, layer);
  });
  return layers;
}

/// What a query of each layer sees: the keys before it, or a window of them.
template <class R> Sees sees_of_layers() {
  std::vector<std::int64_t> before;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    before.insert(before.end(), run.length, decltype(run)::template block<R>::mask.before);
  });
  return [before](int block, std::int64_t query, std::int64_t key) {
    return key <= query && query - key <= before[static_cast<std::size_t>(block)];
  };
}

template <Recipe R> ModelCase model_case(int row) {
  return {row,
          &R::model,
          attention_of<R>::within_documents,
          reference_layers<R>(),
          [](Communicator& communicator, std::uint64_t seed) -> Owned<train::TrainingStep> {
            return make_owned<train::GeneratingStep<R>>(communicator, model_batch, seed);
          },
          [](Communicator& communicator) -> Owned<train::InferenceModel> {
            using Objective = typename objective_of<R>::Hparams;
            return make_owned<train::GeneratingStep<R>>(communicator, model_batch, 0, 0, Objective{},
                                                        Transfers::Timing::at_once, plan::Purpose::inference);
          },
          sees_of_layers<R>()};
}

/// Rows first, …, first + n - 1 of a set of recipes; see RowRecipe.
template <class Rows, int first, int n> void check_rows() {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (check_model(model_case<RowRecipe<Rows, first + i>>(first + i)), ...);
  }
  (std::make_integer_sequence<int, n>());
}

}  // namespace monomorph::testing
