#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::testing {
namespace {

template <class R, class Policy> struct With : R { using checkpointing = Policy; };

constexpr std::int64_t micro_batch = 2;

/// What the step has cut from its memory, against what was planned.
template <Recipe R> void check_arena(const Arena& arena) {
  CHECK(arena.bytes() - arena.unused_bytes() == plan::bytes_per_rank<R>(1, micro_batch));
  CHECK(arena.unused_bytes() == 0);
}

/// Of all gradients after two micro-batches of two sequences.
template <Recipe R> std::uint64_t gradient_hash() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  check_arena<R>(step.state().arena());
  for (const std::int64_t sequence : {0, 2})
    accumulate(step, sequences.from(sequence, R::model.context_length), 1, {sequence, 4});
  return hash_of(step.gradients());
}

/// What grows with the micro-batch.
template <class R> constexpr std::int64_t working_bytes() {
  const plan::Memory memory = plan::memory<R>(1, micro_batch);
  return memory.activations + memory.statistics;
}

template <class R> void check_policies() {
  using namespace checkpointing;
  using Every = With<R, EveryBlock>;
  using Second = With<R, EveryNthBlock<2>>;
  using Half = With<R, Fraction<1, 2>>;
  using Cheap = With<R, RecomputeCheap>;
  const std::uint64_t kept = gradient_hash<R>();
  CHECK(gradient_hash<R>() == kept);
  CHECK(gradient_hash<Every>() == kept);
  CHECK(gradient_hash<Second>() == kept);
  CHECK(gradient_hash<Half>() == kept);
  CHECK(gradient_hash<Cheap>() == kept);
  STATIC_REQUIRE(working_bytes<Every>() < working_bytes<Second>());
  STATIC_REQUIRE(working_bytes<Second>() < working_bytes<R>());
  STATIC_REQUIRE(working_bytes<Half>() == working_bytes<Second>());
  STATIC_REQUIRE(working_bytes<Cheap>() < working_bytes<R>());
}

}  // namespace

TEST_CASE("every checkpointing policy gives the same gradients in bits, GPT-2-like in fp32") {
  check_policies<gpt2_like>();
}
TEST_CASE("every checkpointing policy gives the same gradients in bits, GPT-2-like in bf16") {
  check_policies<InBf16<gpt2_like>>();
}
TEST_CASE("every checkpointing policy gives the same gradients in bits, Llama-like in fp32") {
  check_policies<llama_like>();
}
TEST_CASE("every checkpointing policy gives the same gradients in bits, Llama-like in bf16") {
  check_policies<InBf16<llama_like>>();
}
TEST_CASE("every checkpointing policy gives the same gradients in bits, within documents") {
  check_policies<InDocuments<gpt2_like>>();
  check_policies<InDocuments<InBf16<llama_like>>>();
  CHECK(gradient_hash<InDocuments<llama_like>>() != gradient_hash<llama_like>());
}

}  // namespace monomorph::testing
