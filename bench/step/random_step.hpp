#pragma once
#include <monomorph/train/step/step.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

/// What programs that time steps share: random tokens, and a step of them.
namespace bench {

template <class R> struct RandomBatch {
  static constexpr std::int64_t T = R::model.context_length;
  std::vector<std::int32_t> inputs, targets;
  explicit RandomBatch(std::int64_t sequences) : inputs(sequences * T), targets(sequences * T) {}
  void fill(std::mt19937& random) {
    std::uniform_int_distribution<std::int32_t> id(0, static_cast<std::int32_t>(R::model.vocab_size) - 1);
    std::ranges::generate(inputs, [&] { return id(random); });
    std::ranges::generate(targets, [&] { return id(random); });
  }
};

template <class R>
monomorph::train::Ticket take_step(monomorph::train::Step<R>& step, const RandomBatch<R>& batch,
                                   std::int64_t micro_batch, int number,
                                   const monomorph::train::UpdateSettings& settings = {}) {
  constexpr std::int64_t T = R::model.context_length;
  const std::int64_t n = std::ssize(batch.inputs) / (micro_batch * T);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = i * micro_batch;
    step.accumulate({batch.inputs.data() + first * T, batch.targets.data() + first * T,
                     static_cast<std::uint64_t>(first)},
                    number, {i, n});
  }
  const monomorph::train::Ticket ticket = step.decide({.max_norm = 1});
  step.update(monomorph::PolicyHparams::of<typename R::optimizer::Hparams>(), settings);
  return ticket;
}

inline int argument(int argc, char** argv, int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; }

}  // namespace bench
