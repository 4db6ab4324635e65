// After the first step nothing is allocated: by nobody in the process.
#include "numerics/preferences.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/counting_allocator.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace monomorph::testing {
namespace {

template <class R> struct Tiled : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.attention_kernel = AttentionKernel::tiled;
    model.dropout.attention = 0;
    return model;
  }();
};
template <class R> struct Recomputed : R { using checkpointing = checkpointing::EveryBlock; };
template <class R> struct OnHost : R {
  using checkpointing = checkpointing::Offload<>;
  using optimizer = optim::HostState<optim::AdamW>;
};

template <Recipe R> void take_step(train::TrainingStep& step, std::uint64_t number) {
  accumulate(step, batch_from<R>(0), number, {});
  accumulate(step, batch_from<R>(2), number, {1, 2});
  const double norm = std::sqrt(gradient_norm(step).sum.value());
  update(step, static_cast<std::int64_t>(number), 1 / norm);
  step.evaluate(batch_from<R>(1));
}

template <Recipe R> long allocations_after_first_step() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  if (has_teacher<objective_of<R>>) give_teacher(step);
  take_step<R>(step, 1);
  start_counting();
  take_step<R>(step, 2);
  take_step<R>(step, 3);
  return stop_counting();
}

}  // namespace

TEST_CASE("the count sees an allocation by new and one by malloc") {
  start_counting();
  { const std::unique_ptr<int> one(new int(1)); }
  std::free(std::malloc(100));
  CHECK(stop_counting() == 2);
}

TEST_CASE("bytes are counted as they come and go") {
  const std::int64_t before = live_bytes();
  reset_peak();
  std::free(std::realloc(std::malloc(1000), 100'000));
  CHECK(peak_bytes() >= before + 100'000);
  CHECK(peak_bytes() < before + 110'000);
  CHECK(live_bytes() == before);
}

TEST_CASE("after the first step nothing is allocated") {
  CHECK(allocations_after_first_step<Tiled<gpt2_like>>() == 0);
  CHECK(allocations_after_first_step<Tiled<llama_like>>() == 0);
  CHECK(allocations_after_first_step<InBf16<Tiled<gpt2_like>>>() == 0);
  CHECK(allocations_after_first_step<InBf16<Tiled<llama_like>>>() == 0);
  CHECK(allocations_after_first_step<Recomputed<llama_like>>() == 0);
  CHECK(allocations_after_first_step<InDocuments<Tiled<gpt2_like>>>() == 0);
  CHECK(allocations_after_first_step<Preferring<Tiled<llama_like>>>() == 0);
  CHECK(allocations_after_first_step<TaughtBy<Padded<Tiled<llama_like>>, Tiled<gpt2_like>>>() == 0);
  CHECK(allocations_after_first_step<OnHost<InBf16<Tiled<llama_like>>>>() == 0);
}

TEST_CASE("after the first step nothing is allocated, with attention dropout") {
  CHECK(allocations_after_first_step<gpt2_like>() == 0);
  CHECK(allocations_after_first_step<Recomputed<InBf16<gpt2_like>>>() == 0);
}

}  // namespace monomorph::testing
