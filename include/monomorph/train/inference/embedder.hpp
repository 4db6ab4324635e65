#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

/// Embeddings of texts by an encoder, each text in a sample of its own. One whose tokens are more than a sample has
/// loses its end.
class Embedder {
 public:
  static constexpr std::int64_t texts_at_once = 32;
  /// @param model made for micro-batches of texts_at_once samples of `tokens`   @param texts_per_sample the objective's
  Embedder(InferenceModel& model, const data::Tokenizer& tokenizer, std::int64_t tokens, std::int64_t texts_per_sample);

  /// At most texts_at_once of them. A text without tokens has zeros.
  std::vector<std::vector<float>> embed(std::span<const std::string> texts);

 private:
  void fill_row(std::size_t row, std::string_view text);

  InferenceModel& model_;
  const data::Tokenizer& tokenizer_;
  data::Encoder encoder_;
  std::int64_t tokens_, texts_per_sample_;
  std::vector<std::int32_t> inputs_, targets_, document_starts_;
};

}  // namespace monomorph::train
