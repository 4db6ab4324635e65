#pragma once
#include <cstdint>
#include <monomorph/core/owned.hpp>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/train/step/host_access.hpp>
#include <monomorph/train/step/state_tensor.hpp>
#include <monomorph/train/step/token_pass.hpp>
#include <vector>

namespace monomorph::train {

/// Token ids of micro_batch sequences of T tokens, row by row, in the host's memory. It may hold another batch as soon
/// as `accumulate` returns: a kernel that runs later than it is called keeps a copy of the ids that it was called with.
struct MicroBatch {
  const std::int32_t* inputs;
  const std::int32_t* targets;  ///< ignored_target counts for nothing
  std::uint64_t first_sample;   ///< global index of the first sequence: what dropout depends on
  /// By token the place within its row at which its document begins, 0 if that lies before the row: never greater than
  /// the token's own place and equal to it at a document's first token. Given only to recipes that want it.
  const std::int32_t* document_starts = nullptr;
  /// By sample and sequence, how probable the sequence is to another model. Given only to recipes whose objective is
  /// over sequences.
  const double* reference = nullptr;
};

/// What a model can be used for without being trained. A step is one, and so is a step that was made for inference,
/// whose memory is that of plan::Purpose::inference.
class InferenceModel : public HostAccess {
 public:
  /// The loss alone: dropout is off, and no state moves.
  virtual LossSum evaluate(const MicroBatch& batch) = 0;
  /// For generation (Session); valid as long as the model is. Null of an encoder, and of a step that is no
  /// GeneratingStep.
  virtual Owned<TokenPass> token_pass(const PassSizes&) { return nullptr; }
  /// Input of a block in the last forward pass; L: of what stands behind. Of a step for inference the last two are
  /// still there.
  virtual View hidden_state(int block) const = 0;
  /// What an encoder made of the texts of the last micro-batch, sample by sample; not present of another model.
  virtual View embeddings() const = 0;
  /// By sample and sequence, how probable the sequences of the last micro-batch were, in fp64; not present of a recipe
  /// whose objective is not over sequences.
  virtual View log_probabilities() const = 0;

  /// Those that a load fills: of a step the optimiser's own, in master precision, and otherwise those that compute
  /// reads, in its dtype.
  virtual std::vector<StateTensor> parameters() = 0;
  virtual std::vector<QuantizedMatrix> quantized() = 0;  ///< those that are kept in NF4 and no parameters
  virtual void parameters_changed() = 0;                 ///< after a load: what compute reads follows
};

}  // namespace monomorph::train
