#pragma once
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <monomorph/train/step/objective_report.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// The loss over held-out data.
struct EvaluationResult {
  double loss_sum = 0;  ///< nats
  std::int64_t tokens = 0;
  std::int64_t bytes = 0;              ///< of UTF-8 that the targets stand for; 0 without a tokeniser
  bool over_tokens = true;             ///< or else samples count, and loss_sum is of them
  std::vector<NamedMetric> metrics{};  ///< the objective's
  double loss() const;                 ///< nats per token
  double perplexity() const;
  std::optional<double> bits_per_byte() const;  ///< loss_sum / (ln 2 · bytes)
  /// All that is reported, but for the count: the loss, perplexity and bits per byte where tokens count, NaN what is
  /// not known of them, and the objective's metrics.
  std::vector<NamedMetric> reported() const;
  double metric(std::string_view name) const;  ///< one of these, by its name; NaN if it is none of them
};

/// The evaluation of one of several sets, by its name; a set without a name is the only one.
struct NamedEvaluation {
  std::string name;
  EvaluationResult result;
};

/// "loss 3.2101, perplexity 24.78, 2.3456 bits per byte (110000 tokens)", "loss 0.8102, accuracy 0.7301 (2000 samples)"
std::string evaluation_text(const EvaluationResult& result);

/// Checks every token of the held-out set against the tokeniser.
/// @throws UsageError [RUN-15] it has no such id as a token's: the data was packed with another one
void check_ids(const data::EvaluationLoader& loader, std::span<const std::int32_t> bytes_per_token);

/// Evaluates the loss over the held-out set's targets (see EvaluationLoader); short batches are padded with ignored
/// targets. Dropout is off, and no state of the run changes. Ranks take micro-batches in turn, and
/// all get the result, whose bits do not depend on the number of ranks.
/// @param bytes_per_token by token id, passed by check_ids; empty: bits per byte stay unknown. They mean something only
///   where each token is predicted from those before it
/// @param micro_batches at most so many; absent: all   @param objective what it counts, and its metrics
EvaluationResult evaluate(InferenceModel& model, Communicator& communicator, const data::EvaluationLoader& loader,
                          std::int64_t micro_batch, std::int64_t tokens_per_sequence,
                          std::span<const std::int32_t> bytes_per_token, std::optional<std::int64_t> micro_batches,
                          const ObjectiveReport& objective = {});

}  // namespace monomorph::train
