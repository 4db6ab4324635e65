#pragma once
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/train/step/training_step.hpp>

#include "numerics/pair_samples.hpp"
#include "numerics/schedule_recipes.hpp"

#include <cstdint>
#include <vector>

/// Pairs of sequences of which one was chosen, as a loader gives them.
namespace monomorph::testing {

/// Samples of T tokens: a prompt and what was chosen, the prompt and what was rejected, and padding. Prompts do not
/// count; of sample 2 of every 5 the rejected sequence does not either.
struct PreferenceSamples {
  std::int64_t T;
  std::vector<std::int32_t> inputs, targets, starts;
  std::vector<double> reference;

  PreferenceSamples(std::int64_t n, std::int64_t length, std::int64_t vocab_size, std::int64_t first = 0) : T(length) {
    for (std::int64_t sample = first; sample < first + n; ++sample) {
      const std::int64_t prompt = 1 + sample % 4, second = T / 2 - sample % 3, end = T - sample % 5;
      for (std::int64_t t = 0; t < T; ++t) {
        inputs.push_back(static_cast<std::int32_t>((sample * sample + 7 * t + t * t * sample) % vocab_size));
        const std::int64_t start = t < second ? 0 : t < end ? second : end;
        // The target of a document's last token is the first one of the next, which never counts.
        const bool counts =
            t < end && t - start >= prompt && t + 1 != second && t + 1 != end && !(sample % 5 == 2 && start == second);
        targets.push_back(counts ? static_cast<std::int32_t>((3 * t + 5 * sample) % vocab_size) : ignored_target);
        starts.push_back(static_cast<std::int32_t>(start));
      }
      reference.push_back(-2.5 * static_cast<double>(T) / 2 + static_cast<double>(sample % 7));
      reference.push_back(-2.5 * static_cast<double>(T) / 2 - static_cast<double>(sample % 3));
    }
  }
  train::MicroBatch from(std::int64_t sample) const {
    return {inputs.data() + sample * T, targets.data() + sample * T, static_cast<std::uint64_t>(sample),
            starts.data() + sample * T, reference.data() + 2 * sample};
  }
};

template <class R> struct Preferring : InDocuments<R> { using objective = monomorph::objective::Preferences; };

/// A micro-batch that begins with one of eight rows, each as long as the recipe's context: of documents, or, where the
/// objective is over sequences or embeddings, of a pair.
template <class R> train::MicroBatch batch_from(std::int64_t row) {
  constexpr std::int64_t n_rows = 8, vocab_size = 50;
  if constexpr (is_over_embeddings<objective_of<R>>) {
    static const Pairs pairs(n_rows);
    return pairs.from(row);
  } else if constexpr (is_over_sequences<objective_of<R>>) {
    static const PreferenceSamples samples(n_rows, R::model.context_length, vocab_size);
    return samples.from(row);
  } else {
    static const Sequences rows(n_rows, R::model.context_length, vocab_size);
    return rows.from(row, R::model.context_length);
  }
}

}  // namespace monomorph::testing
