#include <monomorph/train/inference/evaluation.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

/// A packed file of one-byte tokens, without documents in its index.
std::string packed(const TemporaryFolder& folder, const std::vector<unsigned char>& ids) {
  const auto header = data::packed_header(ids.size(), 1);
  std::string bytes(reinterpret_cast<const char*>(header.data()), header.size());
  bytes.append(ids.begin(), ids.end());
  bytes += std::string("\x80\x04\x5d\x94\x2e", 5);  // pickle.dumps([], 4): protocol, empty list, memoized, stop
  write_bytes(folder / "data.pbin", bytes);
  return folder / "data.pbin";
}

/// Eleven tokens are ten targets: three sequences of 4, the last one half empty.
const std::vector<unsigned char> ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/// The loss of a target is the target itself.
LossSum sum_of_targets(const MicroBatch& batch, std::int64_t n) {
  LossSum sum;
  for (std::int64_t i = 0; i < n; ++i)
    if (batch.targets[i] != ignored_target) {
      sum.loss += batch.targets[i];
      ++sum.tokens;
    }
  return sum;
}

EvaluationResult evaluated(std::int64_t micro_batch, std::optional<std::int64_t> micro_batches,
                           std::span<const std::int32_t> bytes_per_token = {}) {
  const TemporaryFolder folder;
  const data::EvaluationLoader loader(packed(folder, ids), 4, 12);
  RecordedStep step;
  step.loss = [&](const MicroBatch& batch) { return sum_of_targets(batch, micro_batch * 4); };
  return evaluate(step, *one_rank(), loader, micro_batch, 4, bytes_per_token, micro_batches);
}

}  // namespace

TEST_CASE("every token but the first is a target once, whatever the micro-batch") {
  for (const std::int64_t micro_batch : {1, 2, 3, 5}) {
    const EvaluationResult result = evaluated(micro_batch, std::nullopt);
    CHECK(result.tokens == 10);
    CHECK(result.loss_sum == 65);  // 2 + ... + 11
    CHECK(result.loss() == 6.5);
    CHECK_FALSE(result.bits_per_byte().has_value());
  }
}

TEST_CASE("no more micro-batches than asked for are evaluated") {
  CHECK(evaluated(1, 2).tokens == 8);
  CHECK(evaluated(1, 2).loss_sum == 44);
  CHECK(evaluated(1, 100).tokens == 10);
}

TEST_CASE("bits per byte are the loss in bits over the bytes of the targets alone") {
  std::vector<std::int32_t> bytes_per_token(12, 1);
  bytes_per_token[1] = 1000;  // the first token is no target
  bytes_per_token[11] = 4;
  const EvaluationResult result = evaluated(2, std::nullopt, bytes_per_token);
  CHECK(result.bytes == 9 + 4);
  CHECK(result.bits_per_byte().value() == Approx(65 / (std::log(2.0) * 13)));
  CHECK(result.perplexity() == Approx(std::exp(6.5)));
  CHECK(evaluation_text(result) == "loss 6.5000, perplexity 665.14, 7.2135 bits per byte (10 tokens)");
  CHECK(result.reported() == std::vector<NamedMetric>{{"loss", result.loss()},
                                                      {"perplexity", result.perplexity()},
                                                      {"bits_per_byte", *result.bits_per_byte()}});
}

TEST_CASE("an objective's metrics are means or sums over what it counts, and there is no perplexity of samples") {
  const TemporaryFolder folder;
  const data::EvaluationLoader loader(packed(folder, ids), 4, 12);
  RecordedStep step;
  step.loss = [&](const MicroBatch&) { return LossSum{.loss = 1.5, .tokens = 2, .metrics = {1, 10}}; };
  const ObjectiveReport objective{.metrics = {{"accuracy"}, {"seen", MetricKind::sum}}, .over_tokens = false};
  const EvaluationResult result = evaluate(step, *one_rank(), loader, 1, 4, {}, std::nullopt, objective);
  REQUIRE(result.metrics.size() == 2);
  CHECK(result.metrics[0] == NamedMetric{"accuracy", 0.5});
  CHECK(result.metrics[1] == NamedMetric{"seen", 30});
  CHECK(evaluation_text(result) == "loss 0.7500, accuracy 0.5000, seen 30.0000 (6 samples)");
  CHECK(result.reported() == std::vector<NamedMetric>{{"loss", 0.75}, {"accuracy", 0.5}, {"seen", 30}});
  CHECK((result.metric("loss") == 0.75 && result.metric("seen") == 30));
  CHECK(std::isnan(result.metric("perplexity")));
}

TEST_CASE("held-out data of another tokeniser is refused") {
  const TemporaryFolder folder;
  const data::EvaluationLoader loader(packed(folder, ids), 4, 12);
  CHECK(error_of([&] { check_ids(loader, std::vector<std::int32_t>(12)); }) == "(no error)");
  const std::string message = error_of([&] { check_ids(loader, std::vector<std::int32_t>(11)); });
  CHECK(contains(message, "[RUN-15]"));
  CHECK(contains(message, "token id 11"));
  CHECK(contains(message, "end at 10"));
}

TEST_CASE("an evaluation without tokens is no division by zero") {
  CHECK(EvaluationResult{}.loss() == 0);
  CHECK_FALSE(EvaluationResult{}.bits_per_byte().has_value());
  CHECK(std::isnan(EvaluationResult{}.metric("bits_per_byte")));
}
