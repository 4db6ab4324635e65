#pragma once
#include <cstdint>
#include <memory>
#include <monomorph/core/exact_sum.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <string>
#include <vector>

namespace monomorph {
class PolicyHparams;  // core/hparams.hpp
}

namespace monomorph::train {

/// Token ids of micro_batch sequences of T tokens, row by row.
struct MicroBatch {
  const std::int32_t* inputs;
  const std::int32_t* targets;  ///< ignored_target counts for nothing
  std::uint64_t first_sample;   ///< global index of the first sequence: what dropout depends on
  /// By token the place within its row at which its document begins, 0 if that lies before the row: never greater than
  /// the token's own place and equal to it at a document's first token. Given only to recipes that want it.
  const std::int32_t* document_starts = nullptr;
};

enum class GradientNorm { one, two, infinity };

/// What the gradients that a rank holds add to a norm of all: to the sum of magnitudes or squares, or to the maximum.
struct PartialGradientNorm {
  ExactSum sum;
  double greatest = 0;  ///< NaN if any element is
};

/// What a rank holds of a canonical tensor of the optimiser's state: all of it, or a run of its elements.
struct StateTensor {
  std::string name;          ///< e.g. "layers.3.mlp.up.weight", or "moment1.layers.3.mlp.up.weight"
  View view;                 ///< of the tensor's shape if it is all of it, otherwise of one row
  Shape shape = view.shape;  ///< of the whole tensor
  std::int64_t first = 0;    ///< element of the tensor with which the view begins
};

/// The place of a micro-batch among those of a rank's step.
struct AccumulationStep {
  std::int64_t index = 0, count = 1;
  double loss_scale = 1;                            ///< gradients are of the losses times this: a power of two
  bool first() const { return index == 0; }         ///< gradients are overwritten, not added to
  bool last() const { return index + 1 == count; }  ///< gradients are complete after it
};

/// What blocks count in a step besides gradients. Before an update, the caller adds up what the ranks have counted.
struct BlockCounts {
  bool has_auxiliary_loss = false;
  ExactSum auxiliary_loss{};             ///< summed over the counted tokens, as the loss is, of which it is no part
  std::vector<std::int64_t> counters{};  ///< block by block
};

/// One sequence, token by token, against a cache.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void reset() = 0;
  virtual std::int64_t capacity() const = 0;  ///< tokens: the context length
  virtual std::int64_t length() const = 0;
  /// Appends a token; the logits (fp32, vocab_size of them) of the next one.
  virtual const float* feed(std::int32_t token) = 0;
};

/// What the training loop needs of Step<R>, so that the loop is compiled once for all recipes.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;

  /// Forward and backward of one micro-batch. Gradients are of the sum of the tokens' losses.
  virtual LossSum accumulate(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) = 0;
  /// The loss alone: dropout is off, and no state moves.
  virtual LossSum evaluate(const MicroBatch& batch) = 0;
  /// Of the accumulated, unscaled gradients that this rank counts: every element is counted by one rank.
  virtual PartialGradientNorm partial_gradient_norm(GradientNorm order) = 0;
  /// Since the step's first micro-batch.
  virtual BlockCounts& counts() = 0;
  /// The optimiser.   @param hparams those of the recipe's optimiser
  virtual void update(const PolicyHparams& hparams, const UpdateScalars& scalars) = 0;

  virtual std::vector<StateTensor> parameters() = 0;  ///< the optimiser's own, in master precision
  virtual std::vector<StateTensor> optimizer_state() = 0;
  virtual std::vector<StateTensor> gradients() = 0;  ///< for tests and diagnosis
  virtual void parameters_changed() = 0;             ///< after a load: compute's rounded copy follows
  virtual std::unique_ptr<Decoder> decoder() = 0;    ///< valid as long as the step is; null of an encoder
  virtual View hidden_state(int block) const = 0;    ///< input of a block in the last forward pass; block L: the output
  /// What an encoder made of the texts of the last micro-batch, sample by sample; not present of another model.
  virtual View embeddings() const = 0;
};

}  // namespace monomorph::train
