#pragma once
#include <monomorph/core/sample.hpp>
#include <monomorph/data/formats/target_token.hpp>

#include <cstdint>
#include <functional>

namespace monomorph::data {

/// What a recipe wants to be in its batches, in training as in evaluation.
struct BatchContents {
  bool document_starts = false;  ///< batches say where their documents begin
  TargetToken target = TargetToken::next;
  /// How many texts a sample has, for an objective over embeddings; otherwise 0. The target of a token is then the
  /// number of its text, from 0, and that of padding is ignored_target. It needs document starts and
  /// TargetToken::itself.
  std::int64_t texts_per_sample = 0;
  /// How many sequences a sample has, for an objective over sequences; otherwise 0.
  std::int64_t sequences_per_sample = 0;
  /// Batches say how probable their sequences are to a reference, of which scores lie beside each set.
  bool reference_scores = false;
  /// So many tokens at the beginning of a sample, or of each of its documents, are no targets.
  std::int64_t prefix = 0;
  /// Changes each sample as the objective asks, if it does. Called by several threads.
  std::function<void(const Sample&)> prepare = nullptr;
};

/// Where a batch is written, each (B, T).
struct BatchBuffers {
  std::int32_t* inputs_BT;
  std::int32_t* targets_BT;
  std::int32_t* document_starts_BT = nullptr;  ///< given only if BatchContents::document_starts is set
  double* reference_BK = nullptr;  ///< by sample and sequence; given only if BatchContents::reference_scores is set
};

/// Turns tokens and targets as they were read into what the recipe wants: targets that a prefix shows are ignored, then
/// each of the `count` samples is prepared.
/// @param first_number of the samples, see Sample::number   @param stream of their random numbers
void prepare_batch(const BatchContents& contents, std::int64_t first_number, std::int64_t count, std::int64_t T,
                   std::int64_t vocab_size, const random::Stream& stream, const BatchBuffers& batch);

}  // namespace monomorph::data
