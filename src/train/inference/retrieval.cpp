#include <monomorph/train/inference/retrieval.hpp>

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

namespace monomorph::train {
namespace {

/// Reads a held-out set batch by batch.
void for_each_batch(const data::EvaluationLoader& loader, std::int64_t micro_batch,
                    const std::function<void(const data::BatchBuffers&, std::int64_t samples)>& visit) {
  const auto size = static_cast<std::size_t>(micro_batch * loader.sequence_length());
  std::vector<std::int32_t> inputs(size), targets(size), document_starts(size);
  const data::BatchBuffers batch{inputs.data(), targets.data(), document_starts.data()};
  std::int64_t left = loader.set().n_samples();
  for (std::int64_t i = 0; left > 0; ++i, left -= micro_batch) {
    loader.read(i, micro_batch, batch);
    visit(batch, std::min(left, micro_batch));
  }
}

/// Adds up what the ranks of pairs say.
class Ranks {
 public:
  /// @param scores of all candidates for pair `own`
  void add(std::span<const float> scores, std::size_t own) {
    std::int64_t rank = 1;
    for (std::size_t j = 0; j < scores.size(); ++j) rank += j != own && scores[j] >= scores[own] ? 1 : 0;
    ++n_;
    at_1_ += rank <= 1 ? 1 : 0;
    at_10_ += rank <= 10 ? 1 : 0;
    reciprocal_ += 1 / static_cast<double>(rank);
  }
  RetrievalScores scores() const {
    const auto n = static_cast<double>(std::max<std::int64_t>(n_, 1));
    return {.recall_at_1 = static_cast<double>(at_1_) / n,
            .recall_at_10 = static_cast<double>(at_10_) / n,
            .mean_reciprocal_rank = reciprocal_ / n};
  }

 private:
  std::int64_t n_ = 0, at_1_ = 0, at_10_ = 0;
  double reciprocal_ = 0;
};

View matrix(const std::vector<float>& rows, std::int64_t width) {
  auto* const data = const_cast<float*>(rows.data());  // views do not tell what is only read
  return {reinterpret_cast<std::byte*>(data), DType::fp32, {static_cast<std::int64_t>(rows.size()) / width, width}};
}

using Counts = std::map<std::int32_t, double>;

/// Tokens of the first two texts of each sample, counted.
std::vector<std::array<Counts, 2>> token_counts(const data::EvaluationLoader& loader, std::int64_t micro_batch) {
  std::vector<std::array<Counts, 2>> pairs;
  const std::int64_t T = loader.sequence_length();
  for_each_batch(loader, micro_batch, [&](const data::BatchBuffers& batch, std::int64_t samples) {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      auto& pair = pairs.emplace_back();
      for (std::int64_t t = sample * T; t < (sample + 1) * T; ++t)
        if (const std::int32_t text = batch.targets_BT[t]; text == 0 || text == 1)
          ++pair[static_cast<std::size_t>(text)][batch.inputs_BT[t]];
    }
  });
  return pairs;
}

/// Weights counts, and brings them to length 1.
void weigh(Counts& counts, const std::unordered_map<std::int32_t, double>& documents, double n_documents) {
  double squares = 0;
  for (auto& [id, count] : counts) {
    const auto found = documents.find(id);
    count *= 1 + std::log((1 + n_documents) / (1 + (found == documents.end() ? 0 : found->second)));
    squares += count * count;
  }
  for (auto& [id, count] : counts) count /= std::sqrt(squares);
}

}  // namespace

PairEmbeddings embed_pairs(InferenceModel& model, const data::EvaluationLoader& loader, std::int64_t micro_batch,
                           std::int64_t texts_per_sample) {
  PairEmbeddings pairs{.width = model.embeddings().shape.cols};
  HostBuffer buffer;
  for_each_batch(loader, micro_batch, [&](const data::BatchBuffers& batch, std::int64_t samples) {
    model.evaluate({batch.inputs_BT, batch.targets_BT, 0, batch.document_starts_BT});
    const View made_RE = model.download(model.embeddings(), buffer);
    for (std::int64_t sample = 0; sample < samples; ++sample)
      for (const auto& [text, rows] : {std::pair{0, &pairs.first}, {1, &pairs.second}}) {
        rows->resize(rows->size() + static_cast<std::size_t>(pairs.width));
        float* const end = rows->data() + rows->size();
        cpu::copy(cpu::Queue{}, made_RE.rows(sample * texts_per_sample + text, 1),
                  {reinterpret_cast<std::byte*>(end - pairs.width), DType::fp32, {1, pairs.width}});
      }
  });
  return pairs;
}

RetrievalScores retrieval_scores(const PairEmbeddings& pairs) {
  constexpr std::int64_t at_once = 256;
  const std::int64_t n = pairs.count();
  std::vector<float> products(static_cast<std::size_t>(at_once * n));
  Ranks ranks;
  for (std::int64_t first = 0; first < n; first += at_once) {
    const std::int64_t rows = std::min(at_once, n - first);
    cpu::linear(cpu::Queue{}, matrix(pairs.first, pairs.width).rows(first, rows), matrix(pairs.second, pairs.width), {},
                matrix(products, n).rows(0, rows));
    for (std::int64_t i = 0; i < rows; ++i)
      ranks.add({products.data() + i * n, static_cast<std::size_t>(n)}, static_cast<std::size_t>(first + i));
  }
  return ranks.scores();
}

RetrievalScores bag_of_words_scores(const data::EvaluationLoader& loader, std::int64_t micro_batch) {
  std::vector<std::array<Counts, 2>> pairs = token_counts(loader, micro_batch);
  std::unordered_map<std::int32_t, double> documents;
  for (const auto& [first, second] : pairs)
    for (const auto& [id, count] : second) ++documents[id];
  std::unordered_map<std::int32_t, std::vector<std::pair<std::size_t, float>>> texts_with;  // second ones, by token
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (Counts& counts : pairs[i]) weigh(counts, documents, static_cast<double>(pairs.size()));
    for (const auto& [id, weight] : pairs[i][1]) texts_with[id].emplace_back(i, static_cast<float>(weight));
  }
  Ranks ranks;
  std::vector<float> scores(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::ranges::fill(scores, 0.0f);
    for (const auto& [id, weight] : pairs[i][0])
      for (const auto& [text, of_text] : texts_with[id]) scores[text] += static_cast<float>(weight) * of_text;
    ranks.add(scores, i);
  }
  return ranks.scores();
}

RetrievalScores chance_scores(std::int64_t pairs) {
  const auto n = static_cast<double>(std::max<std::int64_t>(pairs, 1));
  double reciprocal = 0;
  for (std::int64_t rank = 1; rank <= pairs; ++rank) reciprocal += 1 / static_cast<double>(rank);
  return {.recall_at_1 = 1 / n, .recall_at_10 = std::min(10 / n, 1.0), .mean_reciprocal_rank = reciprocal / n};
}

}  // namespace monomorph::train
