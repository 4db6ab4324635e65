// Models with mixtures of experts, and with blocks of two shapes: a step of them, whatever its schedule.
#include "numerics/model_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>

namespace monomorph::testing {
namespace {

inline constexpr MixtureSpec every_option{
    .n_experts = 6, .top_k = 2, .d_expert = 24, .n_shared = 1, .balance_loss = 0.05, .z_loss = 0.01, .bias_rate = 0.02};
inline constexpr MixtureSpec with_capacity{.n_experts = 4,
                                           .top_k = 2,
                                           .capacity_factor = 0.8,
                                           .scores = RouterScores::sigmoid,
                                           .balance_loss = 0.05,
                                           .bias_rate = 0.001};

/// A dense block with sizes of its own, then mixtures.
template <class R> struct Mixed : R {
  using layers = Stack<Run<Shaped<BlockShape{.n_heads = 2, .d_ff = 40}>::Block, 1>,
                       Run<Mixture<every_option>::Block, 2>, Run<DecoderBlock, 1>>;
};
template <class R> struct Limited : R {
  using layers = Stack<Run<DecoderBlock, 2>, Run<Mixture<with_capacity>::Block, 2>>;
};
template <class R> struct SideBySide : R {
  using layers = Stack<Run<Composed<BlockOrder::parallel, Mixture<every_option>::Mlp>::Block, 3>,
                       Run<Composed<BlockOrder::sandwich_norm>::Block, 1>>;
};
template <class R> struct PostNorm : R {
  using layers = Stack<Run<Composed<BlockOrder::post_norm, Mixture<every_option>::Mlp>::Block, 3>,
                       Run<Composed<BlockOrder::post_norm>::Block, 1>>;
};
template <class R> struct InFp64 : R { using precision = precision::Fp64; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };

/// All gradients after two micro-batches, as a hash, and what was counted.
template <Recipe R> auto counted_step() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  const Arena& arena = step.state().arena();
  CHECK(arena.bytes() - arena.unused_bytes() == plan::memory<R>(1, 2).arena());
  CHECK(arena.unused_bytes() == 0);
  step.evaluate(sequences.from(0, R::model.context_length));  // counts nothing
  for (const std::int64_t i : {0, 1}) accumulate(step, sequences.from(2 * i, R::model.context_length), 1, {i, 2});
  return std::tuple(hash_of(step.gradients()), step.scalars().auxiliary_loss.value(), step.counters());
}

template <class R> void check_policies() {
  using namespace checkpointing;
  const auto kept = counted_step<R>();
  CHECK((counted_step<With<R, EveryBlock>>() == kept));
  CHECK((counted_step<With<R, EveryNthBlock<2>>>() == kept));
  CHECK((counted_step<With<R, RecomputeCheap>>() == kept));
  CHECK((counted_step<With<R, Offload<>>>() == kept));
}

std::int64_t tokens_of(const std::vector<std::int64_t>& counters, std::ptrdiff_t first, std::ptrdiff_t n) {
  std::int64_t sum = 0;
  for (std::ptrdiff_t i = first; i < first + n; ++i) sum += counters[static_cast<std::size_t>(i)];
  return sum;
}

const train::StateTensor& named(const std::vector<train::StateTensor>& tensors, const std::string& name) {
  return *std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
}

}  // namespace

TEST_CASE("models with blocks of two shapes and mixtures, against autograd") {
  check_model(model_case<InFp64<Mixed<llama_like>>>(0));
  check_model(model_case<InFp64<SideBySide<llama_like>>>(1));
  check_model(model_case<InFp64<PostNorm<llama_like>>>(2));
}

TEST_CASE("every checkpointing policy gives a mixture's bits, and counts once") {
  check_policies<Mixed<llama_like>>();
  check_policies<Limited<llama_like>>();
  check_policies<SideBySide<llama_like>>();
  check_policies<PostNorm<InBf16<llama_like>>>();
}

TEST_CASE("every token is counted at each of its experts") {
  const auto [gradients, auxiliary_loss, counters] = counted_step<Mixed<llama_like>>();
  constexpr std::int64_t pairs = 4 * llama_like::model.context_length * 2;
  REQUIRE(counters.size() == 12);
  CHECK(tokens_of(counters, 0, 6) == pairs);
  CHECK(tokens_of(counters, 6, 6) == pairs);
  CHECK(auxiliary_loss > 0);
}

TEST_CASE("biases follow the loads, and nothing else moves them", "") {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<Mixed<llama_like>> step(*communicator, 2, 3);
  const std::string name = "layers.1.mlp.router.bias";
  CHECK(values_of(named(step.parameters(), name).view) == Values(6));
  for (const auto& tensor : step.optimizer_state()) CHECK(tensor.name.find("router.bias") == std::string::npos);
  accumulate(step, sequences.from(0, llama_like::model.context_length), 1, {});
  const std::vector<std::int64_t> counters = step.counters();
  update(step, 1, 1);
  const Values biases = values_of(named(step.parameters(), name).view);
  const double mean = static_cast<double>(tokens_of(counters, 0, 6)) / 6;
  for (std::size_t e = 0; e < 6; ++e) {
    const double load = static_cast<double>(counters[e]);
    CHECK(biases[e] == Approx(load < mean ? 0.02 : load > mean ? -0.02 : 0.0));
  }
}

TEST_CASE("biases that are moved by loads even them out") {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<Limited<llama_like>> step(*communicator, 2, 3);
  const auto imbalance = [&] {
    accumulate(step, sequences.from(0, llama_like::model.context_length), 1, {});
    const auto counters = step.counters();
    return static_cast<double>(*std::max_element(counters.begin(), counters.begin() + 4)) /
           static_cast<double>(*std::min_element(counters.begin(), counters.begin() + 4));
  };
  const double before = imbalance();
  for (int i = 1; i <= 120; ++i) {
    imbalance();
    update(step, i, 0, adamw_hparams(), {.rate_times = 0});
  }
  CHECK(imbalance() < 1.1);
  CHECK(before > 1.2);
}

}  // namespace monomorph::testing
