#pragma once
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <vector>

namespace monomorph::train {

/// Embeddings of the first and of the second texts of samples, row by row.
struct PairEmbeddings {
  std::int64_t width = 0;
  std::vector<float> first{}, second{};
  std::int64_t count() const { return width == 0 ? 0 : static_cast<std::int64_t>(first.size()) / width; }
};

/// What an encoder makes of the samples of a held-out set.   @param texts_per_sample of which the first two are taken
PairEmbeddings embed_pairs(InferenceModel& model, const data::EvaluationLoader& loader, std::int64_t micro_batch,
                           std::int64_t texts_per_sample);

/// How well the second text of each pair is found among all second ones, given the first. A pair's rank counts from 1,
/// and every other text that is as near as the pair's own counts as nearer, so that equal embeddings score nothing.
struct RetrievalScores {
  double recall_at_1 = 0, recall_at_10 = 0;  ///< share of pairs of such a rank or a lower one
  double mean_reciprocal_rank = 0;
};
/// By the products of embeddings, as the objective compares them.
RetrievalScores retrieval_scores(const PairEmbeddings& pairs);
/// By the cosine of token counts, each weighted by 1 + ln((1 + n) / (1 + in how many of the n second texts it is)):
/// TF-IDF, of tokens instead of words.
RetrievalScores bag_of_words_scores(const data::EvaluationLoader& loader, std::int64_t micro_batch);
/// The scores that ranks drawn at random would have.
RetrievalScores chance_scores(std::int64_t pairs);

}  // namespace monomorph::train
