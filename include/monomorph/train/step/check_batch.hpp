#pragma once
#include <cstdint>
#include <monomorph/train/step/training_step.hpp>

/// Where token ids enter a step, and where they enter a decoder, the host checks them. No kernel does so again.
namespace monomorph::train {

/// What the ids of a micro-batch may be.
struct BatchLimits {
  std::int64_t rows, tokens;   ///< sequences, and tokens of each
  std::int64_t vocab_size;     ///< tokens, and targets that are tokens, lie below
  std::int64_t texts;          ///< of an objective over embeddings: targets lie below; else 0
  std::int64_t sequences;      ///< of an objective over sequences; else 0
  bool wants_document_starts;  ///< attention keeps within documents
};

/// @throws Error [KERNEL-01] a token, [KERNEL-02] a target or [KERNEL-07] the number of a text is too large or
/// negative; [KERNEL-04] document starts are wanted and not there; [KERNEL-03] in some row they are not those of
/// documents one after the other; [KERNEL-09] log-probabilities of sequences are wanted and not there
void check_batch(const MicroBatch& batch, const BatchLimits& limits);

/// @throws Error [KERNEL-01]
void check_token(std::int32_t id, std::int64_t vocab_size);

}  // namespace monomorph::train
