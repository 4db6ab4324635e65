#include "support/catch.hpp"

#include <monomorph/schedule/warmup_decay_hparams.hpp>

#include <cmath>

namespace {

using namespace monomorph::schedule;
using OptionalCount = std::optional<std::int64_t>;

WarmupDecayHparams warmup_decay_of(DecayKind kind, std::int64_t warmup_steps, double final_fraction,
                                   OptionalCount decay_steps = std::nullopt) {
  WarmupDecayHparams schedule;
  schedule.kind.value = kind;
  schedule.warmup_steps.value = warmup_steps;
  schedule.final_fraction.value = final_fraction;
  schedule.decay_steps.value = decay_steps;
  return schedule;
}

/// One row: a step and its learning rate with peak 1.
struct Expected {
  std::int64_t step;
  double rate;
};

void check(const WarmupDecayHparams& schedule, std::initializer_list<Expected> rows) {
  constexpr std::int64_t total_steps = 100;
  for (const auto& [step, rate] : rows) {
    CAPTURE(step);
    CHECK(WarmupDecay::rate(schedule, step, total_steps).of(1.0) == Approx(rate).epsilon(1e-14));
    CHECK(WarmupDecay::rate(schedule, step, total_steps).of(3e-4) == Approx(3e-4 * rate).epsilon(1e-14));
  }
}

}  // namespace

// Hugging Face counts so that the rate of step 0 is 0 (current_step / num_warmup_steps). Ours starts one step later:
// learning_rate(step; warmup, total) = lambda(step + 1; warmup + 1, total + 1). The values below are that, computed in
// Python from the formulas of transformers/optimization.py written out, with warmup 10 and 100 steps:
//   linear:       (T - s) / (T - w)                                 get_linear_schedule_with_warmup
//   cosine:       0.5 (1 + cos(pi (s - w) / (T - w)))               get_cosine_schedule_with_warmup
//   with minimum: f (1 - m) + m                                     get_cosine_with_min_lr_schedule_with_warmup
//   inverse:      1 / sqrt(s / w)                                   get_inverse_sqrt_schedule
//   wsd, linear:  1, then 1 - (s - w - stable) / decay, minimum m   get_wsd_schedule
TEST_CASE("schedules equal the formulas of transformers, one step later") {
  check(warmup_decay_of(DecayKind::linear, 10, 0.0), {{0, 0.09090909090909091},
                                                      {4, 0.45454545454545453},
                                                      {9, 0.9090909090909091},
                                                      {10, 1.0},
                                                      {55, 0.5},
                                                      {99, 0.011111111111111112}});
  check(warmup_decay_of(DecayKind::cosine, 10, 0.0),
        {{4, 0.45454545454545453}, {10, 1.0}, {55, 0.5}, {99, 0.00030458649045211894}});
  check(warmup_decay_of(DecayKind::cosine, 10, 0.1), {{10, 1.0}, {55, 0.55}, {99, 0.10027412784140691}});
  check(warmup_decay_of(DecayKind::inverse_sqrt, 10, 0.0),
        {{9, 0.9090909090909091}, {10, 1.0}, {55, 0.44320263021395917}, {99, 0.33166247903553997}});
  check(warmup_decay_of(DecayKind::wsd, 10, 0.1, 20), {{4, 0.45454545454545453}, {10, 1.0}, {80, 1.0}, {99, 0.145}});
}

TEST_CASE("schedules by hand") {
  check(warmup_decay_of(DecayKind::constant, 3, 0.0), {{0, 0.25}, {1, 0.5}, {2, 0.75}, {3, 1.0}, {99, 1.0}});
  check(warmup_decay_of(DecayKind::linear, 0, 0.0), {{0, 1.0}, {25, 0.75}, {99, 0.01}});
  check(warmup_decay_of(DecayKind::linear, 0, 0.5, 50), {{0, 1.0}, {25, 0.75}, {50, 0.5}, {99, 0.5}});
  check(warmup_decay_of(DecayKind::cosine, 0, 0.2, 60),
        {{0, 1.0}, {20, 0.8}, {30, 0.6}, {40, 0.4}, {60, 0.2}, {99, 0.2}});
  check(warmup_decay_of(DecayKind::wsd, 0, 0.0, 10), {{0, 1.0}, {90, 1.0}, {95, 0.5}, {99, 0.1}});
  check(warmup_decay_of(DecayKind::inverse_sqrt, 0, 0.25), {{0, 1.0}, {3, 0.5}, {15, 0.25}, {99, 0.25}});
}

TEST_CASE("no schedule has a step at rate 0, jumps at the end of the warm-up or leaves its bounds") {
  for (const DecayKind kind :
       {DecayKind::constant, DecayKind::linear, DecayKind::cosine, DecayKind::wsd, DecayKind::inverse_sqrt}) {
    for (const std::int64_t warmup_steps : {0, 1, 20, 200}) {
      const OptionalCount decay_steps = kind == DecayKind::wsd ? OptionalCount{40} : std::nullopt;
      const WarmupDecayHparams schedule = warmup_decay_of(kind, warmup_steps, 0.0, decay_steps);
      constexpr std::int64_t total_steps = 240;
      CHECK(WarmupDecay::rate(schedule, warmup_steps, total_steps).of(2.0) == 2.0);
      double before = 0.0;
      for (std::int64_t step = 0; step < total_steps; ++step) {
        const double rate = WarmupDecay::rate(schedule, step, total_steps).of(2.0);
        CHECK((rate > 0.0 && rate <= 2.0));
        CHECK((step <= warmup_steps ? rate > before : rate <= before));
        before = rate;
      }
    }
  }
}

TEST_CASE("a warm-up as long as the run is no division by zero") {
  for (const DecayKind kind : {DecayKind::linear, DecayKind::cosine}) {
    const WarmupDecayHparams schedule = warmup_decay_of(kind, 5, 0.1);
    CHECK(WarmupDecay::rate(schedule, 4, 5).of(1.0) == Approx(5.0 / 6.0));
    CHECK(std::isfinite(WarmupDecay::rate(schedule, 5, 5).of(1.0)));
  }
}
