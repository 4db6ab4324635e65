#include <monomorph/train/inference/evaluation.hpp>

#include "train/step/exact_sum_words.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace monomorph::train {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a rank adds up. The sums are exact, so their bits do not depend on the number of ranks.
struct Sums {
  ExactSum loss;
  std::array<ExactSum, most_objective_metrics> metrics{};
  std::int64_t tokens = 0, bytes = 0;
  void add(const LossSum& micro_batch) {
    loss.add(micro_batch.loss);
    for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i].add(micro_batch.metrics[i]);
    tokens += micro_batch.tokens;
  }
};

/// Adds up the ranks' results and gives the sums to all.
EvaluationResult sum_over_ranks(Communicator& communicator, const Sums& local, const ObjectiveReport& objective) {
  std::vector<std::int64_t> words;
  append(local.loss, words);
  for (std::size_t i = 0; i < objective.metrics.size(); ++i) append(local.metrics[i], words);
  words.insert(words.end(), {local.tokens, local.bytes});
  communicator.all_reduce_sum(words);
  std::span<const std::int64_t> rest = words;
  EvaluationResult result{.over_tokens = objective.over_tokens};
  result.loss_sum = take_sum(rest).value();
  std::array<double, most_objective_metrics> metrics{};
  for (std::size_t i = 0; i < objective.metrics.size(); ++i) metrics[i] = take_sum(rest).value();
  result.tokens = rest[0];
  result.bytes = rest[1];
  result.metrics = metric_values(objective, metrics, result.tokens);
  return result;
}

}  // namespace

double EvaluationResult::loss() const { return tokens > 0 ? loss_sum / static_cast<double>(tokens) : 0; }
double EvaluationResult::perplexity() const { return std::exp(loss()); }
std::optional<double> EvaluationResult::bits_per_byte() const {
  if (bytes == 0) return std::nullopt;
  return loss_sum / (std::numbers::ln2 * static_cast<double>(bytes));
}

std::vector<NamedMetric> EvaluationResult::reported() const {
  std::vector<NamedMetric> reported{{"loss", loss()}};
  if (over_tokens)
    reported.insert(reported.end(), {{"perplexity", perplexity()}, {"bits_per_byte", bits_per_byte().value_or(nan)}});
  reported.insert(reported.end(), metrics.begin(), metrics.end());
  return reported;
}

double EvaluationResult::metric(std::string_view name) const {
  const std::vector<NamedMetric> all = reported();
  const auto found = std::ranges::find(all, name, &NamedMetric::first);
  return found == all.end() ? nan : found->second;
}

std::string evaluation_text(const EvaluationResult& result) {
  std::string text = fmt::format("loss {:.4f}", result.loss());
  if (result.over_tokens) text += fmt::format(", perplexity {:.2f}", result.perplexity());
  for (const auto& [name, value] : result.metrics) text += fmt::format(", {} {:.4f}", name, value);
  if (const auto bits = result.bits_per_byte()) text += fmt::format(", {:.4f} bits per byte", *bits);
  return text + fmt::format(" ({} {})", result.tokens, result.over_tokens ? "tokens" : "samples");
}

void check_ids(const data::EvaluationLoader& loader, std::span<const std::int32_t> bytes_per_token) {
  const std::int32_t largest = loader.set().largest_id();
  if (largest < std::ssize(bytes_per_token)) return;
  throw UsageError(
      "RUN-15",
      fmt::format(
          "the held-out data {} has the token id {}, and the tokeniser's end at {}; give the tokeniser that the data "
          "was packed with",
          in_quotes(loader.set().file().path()), largest, std::ssize(bytes_per_token) - 1));
}

EvaluationResult evaluate(InferenceModel& model, Communicator& communicator, const data::EvaluationLoader& loader,
                          std::int64_t micro_batch, std::int64_t tokens_per_sequence,
                          std::span<const std::int32_t> bytes_per_token, std::optional<std::int64_t> micro_batches,
                          const ObjectiveReport& objective) {
  std::vector<std::int32_t> inputs(micro_batch * tokens_per_sequence), targets(inputs.size()), document_starts;
  if (loader.has_document_starts()) document_starts.resize(inputs.size());
  std::vector<double> reference(micro_batch * loader.scores_per_sample());
  const data::BatchBuffers batch{inputs.data(), targets.data(),
                                 document_starts.empty() ? nullptr : document_starts.data(),
                                 reference.empty() ? nullptr : reference.data()};
  const std::int64_t all = loader.n_batches(micro_batch);
  const std::int64_t n = std::min(all, micro_batches.value_or(all));
  Sums local;
  for (std::int64_t first = 0; first < n; first += communicator.size()) {
    const std::int64_t i = first + communicator.rank();
    loader.read(i < n ? i : all, micro_batch, batch);  // all ranks compute equally often; past the end nothing counts
    local.add(model.evaluate({batch.inputs_BT, batch.targets_BT, 0, batch.document_starts_BT, batch.reference_BK}));
    if (bytes_per_token.empty()) continue;
    for (const std::int32_t target : targets)
      if (target != ignored_target) local.bytes += bytes_per_token[target];
  }
  return sum_over_ranks(communicator, local, objective);
}

}  // namespace monomorph::train
