#include "emulator/gpu_case.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/sequences.hpp>

namespace monomorph::emulator {
namespace {

constexpr std::int64_t samples = 5, tokens = 300;

/// Two sequences and padding; a sample that lacks the second one, one whose second one counts for nothing, and one that
/// is one token and another.
struct Given {
  std::vector<std::int32_t> targets, starts;
  std::vector<double> reference;
  Given() {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t second = sample == 1 ? tokens : 20 + 31 * sample, end = sample == 4 ? second + 1 : tokens - 7;
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t start = t < second ? 0 : t < end ? second : end;
        const bool counts = t - start > 3 * (sample % 2) && t < end && !(sample == 2 && start == second);
        targets.push_back(sample == 4 ? (t == 0 || t == second ? 1 : ignored_target) : counts ? 5 : ignored_target);
        starts.push_back(static_cast<std::int32_t>(start));
      }
      reference.push_back(-150.25 - static_cast<double>(sample));
      reference.push_back(-90.5 + static_cast<double>(sample));
    }
  }
};

struct Results {
  Values log_probabilities, weights;
  LossSum sum;
};

template <class Queue> Results run(Queue queue, DType dtype, const PreferenceTerms& terms, bool trains) {
  const Given given;
  const Storage loss(random_matrix(1, samples * tokens, 1), dtype);
  const Storage log_probability(filled(1, 2 * samples, 7), DType::fp64), weight(filled(1, samples * tokens, 7), dtype);
  Results results;
  results.sum = {.loss = 1, .tokens = 2, .metrics = {3, 4, 5, 6}};
  preference_loss(queue,
                  SequenceBatch{.loss_M = writable(loss),
                                .targets_M = given.targets.data(),
                                .document_starts_M = given.starts.data(),
                                .tokens = tokens,
                                .sequences = 2,
                                .reference_BK = given.reference.data(),
                                .log_probability_BK = writable(log_probability),
                                .weight_M = trains ? writable(weight) : View{},
                                .sum = &results.sum},
                  terms);
  results.log_probabilities = values_of(log_probability);
  results.weights = values_of(weight);
  return results;
}

}  // namespace

TEST_CASE("what compares sequences gives what the CPU does, in every schedule", "[preference]") {
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const PreferenceTerms& terms :
         {PreferenceTerms{.beta = 0.1}, PreferenceTerms{.beta = 0.01, .label_smoothing = 0.2},
          PreferenceTerms{.kind = PreferenceLoss::squared, .beta = 0.5, .label_smoothing = 0.1}})
      for (const bool trains : {true, false}) {
        CAPTURE(name_of(dtype), terms.beta, trains);
        const Results cpu = run(cpu_queue, dtype, terms, trains);
        CHECK(cpu.sum.tokens == 2 + 3);
        for_each_schedule([&] {
          const Results gpu = run(gpu_queue, dtype, terms, trains);
          CHECK(relative_error(gpu.log_probabilities, cpu.log_probabilities) < 1e-13);
          CHECK(relative_error(gpu.weights, cpu.weights) < (dtype == DType::fp64 ? 1e-12 : 1e-6));
          CHECK(gpu.sum.loss == Approx(cpu.sum.loss).epsilon(1e-12));
          CHECK(gpu.sum.tokens == cpu.sum.tokens);
          for (std::size_t i = 0; i < cpu.sum.metrics.size(); ++i)
            CHECK(gpu.sum.metrics[i] == Approx(cpu.sum.metrics[i]).epsilon(1e-12));
        });
      }
}

}  // namespace monomorph::emulator
