// Matrices in NF4 under what is trained: training has the bits of training beside the numbers that are made of them,
// and the memory of the plan.
#include "numerics/inference_check.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/model/mixture_of_experts.hpp>
#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

constexpr std::int64_t micro_batch = 2;

template <class R> struct InNf4 : R { using finetuning = finetuning::Nf4Base<typename R::finetuning>; };
template <class R> struct InFp64 : R { using precision = precision::Fp64; };
template <class R> struct InFp16 : R { using precision = precision::Fp16Mixed; };
template <class R> struct InBf16Pure : R { using precision = precision::Bf16Pure; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };
template <class R, class Strategy> struct ShardedBy : R { using sharding = Strategy; };
template <class R, class Optimizer> struct OptimizedBy : R { using optimizer = Optimizer; };
inline constexpr MixtureSpec experts{.n_experts = 4, .top_k = 2, .n_shared = 1};
template <class R> struct Mixed : R { using layers = Stack<Run<DecoderBlock, 2>, Run<Mixture<experts>::Block, 2>>; };
struct Norms {
  static constexpr ParameterSelector parameters[] = {ParameterClass::norm, "layers.3.*"};
};
template <class R> struct TrainsNorms : R { using finetuning = finetuning::TrainOnly<Norms>; };

/// The numbers that a step on one rank makes of what it keeps in NF4.
Tensors dequantized(train::TrainingStep& step) {
  Tensors numbers;
  for (const train::QuantizedMatrix& matrix : step.quantized()) {
    Nf4Matrix parts;
    parts.codes = matrix.codes.view.reshaped({1, matrix.codes.view.elements()});
    parts.absmax = matrix.absmax.view, parts.nested_absmax = matrix.nested_absmax.view;
    parts.offset = matrix.offset.view;
    std::vector<std::byte> bytes(parts.elements() * size_of(matrix.dtype));
    const View view(bytes.data(), matrix.dtype, matrix.info.slice.shape);
    cpu::dequantize_nf4({}, parts, view);
    numbers[matrix.name] = values_of(view);
  }
  return numbers;
}
std::vector<train::StateTensor> bytes_in_nf4(train::TrainingStep& step) {
  std::vector<train::StateTensor> all;
  for (const train::QuantizedMatrix& matrix : step.quantized())
    for (const train::StateTensor& part : held_parts(matrix)) all.push_back(part);
  return all;
}

struct Trained {
  std::vector<double> losses;
  Tensors gradients, parameters, state;
  Values logits;
  bool operator==(const Trained&) const = default;
};
/// Three steps of two micro-batches, with an evaluation behind each; and the logits that are left.
template <Recipe R> Trained trained(train::GeneratingStep<R>& step) {
  CHECK(step.state().arena().unused_bytes() == 0);
  CHECK(step.state().host_arena().unused_bytes() == 0);
  CHECK(step.state().arena().bytes() == plan::memory<R>(1, micro_batch).arena());
  CHECK(wrong_regions(step.state(), 1, micro_batch) == "");
  Trained result;
  const auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t i : {0, 1})
      result.losses.push_back(
          accumulate(step, sequences.from(2 * i, R::model.context_length), number, {.index = i, .count = 2}).loss);
    gradient_norm(step);
    result.gradients = values_of(step.gradients());
    update(step, number, 1e-2, hparams);
    result.losses.push_back(step.evaluate(sequences.from(1, R::model.context_length)).loss);
  }
  result.parameters = values_of(step.parameters());
  result.state = values_of(step.optimizer_state());
  result.logits = check_inference<R, true>(step, micro_batch, Transfers::Timing::late);
  return result;
}

/// R, with its base in NF4 and with the numbers that are made of it.
template <Recipe R> void check_bits() {
  const auto communicator = one_rank();
  train::GeneratingStep<InNf4<R>> quantized(*communicator, micro_batch, 3);
  train::GeneratingStep<R> plain(*communicator, micro_batch, 3);
  const Tensors base = dequantized(quantized), others = values_of(quantized.parameters());
  CHECK(base.size() > 0);
  for (const train::StateTensor& tensor : plain.parameters()) {
    CAPTURE(tensor.name);
    const bool is_base = base.contains(tensor.name);
    CHECK(is_base != others.contains(tensor.name));
    if (is_base) {
      CHECK(relative_error(base.at(tensor.name), values_of(tensor.view)) < 0.15);  // it begins as it is where plain
      assign(tensor.view, base.at(tensor.name));
    } else {
      CHECK(values_of(tensor.view) == others.at(tensor.name));
    }
  }
  plain.parameters_changed();
  const std::uint64_t before = hash_of(bytes_in_nf4(quantized));
  Trained expected = trained(plain);
  std::erase_if(expected.parameters, [&](const auto& named) { return base.contains(named.first); });
  CHECK(trained(quantized) == expected);
  CHECK(hash_of(bytes_in_nf4(quantized)) == before);
}

}  // namespace

TEST_CASE("adapters beside a base in NF4 are trained to the bits of adapters beside the numbers that it stands for") {
  using namespace checkpointing;
  using adapted = Adapted<llama_like, dropped_everywhere>;
  check_bits<adapted>();
  check_bits<With<InBf16<adapted>, EveryBlock>>();
  check_bits<With<InFp16<adapted>, RecomputeCheap>>();
  check_bits<InFp64<adapted>>();
  check_bits<InBf16Pure<Adapted<llama_like, queries_and_values>>>();
  check_bits<Adapted<gpt2_like, stabilised>>();
  check_bits<InBf16<Adapted<Mixed<llama_like>, everywhere>>>();
}

TEST_CASE("a base in NF4 may wait in the host's memory, and lie under any parameters that are trained") {
  using adapted = InBf16<Adapted<llama_like, everywhere>>;
  check_bits<
      OptimizedBy<ShardedBy<adapted, sharding::HostParameters<sharding::Replicate>>, optim::HostState<optim::AdamW>>>();
  check_bits<With<adapted, checkpointing::Offload<>>>();
  check_bits<TrainsNorms<InBf16<llama_like>>>();
}

TEST_CASE("a base in NF4 takes a quarter of what it takes in 16 bits, and no master parameters") {
  using adapted = InBf16<Adapted<llama_like, queries_and_values>>;
  constexpr plan::Memory numbers = plan::memory<adapted>(1, micro_batch),
                         nf4 = plan::memory<InNf4<adapted>>(1, micro_batch);
  constexpr std::int64_t of_block = 2 * 32 * 32 + 2 * 16 * 32 + 3 * 80 * 32, in_blocks = 4 * of_block;
  // Codes, and of each of seven matrices three small parts, each of which begins at a multiple of 64 bytes.
  constexpr std::int64_t packed = align_up(of_block / 2 + 7 * 3 * 64, 2 * 64);
  // The numbers of one block have a place of their own.
  STATIC_REQUIRE(nf4.master == numbers.master - 4 * in_blocks);
  STATIC_REQUIRE(nf4.gathered_params == numbers.gathered_params + 2 * of_block);
  STATIC_REQUIRE(nf4.compute_params == numbers.compute_params - 4 * (2 * of_block - packed));
  STATIC_REQUIRE(nf4.gradients == numbers.gradients);
  STATIC_REQUIRE(nf4.optimizer_state == numbers.optimizer_state);
  STATIC_REQUIRE(plan::params<InNf4<adapted>> == plan::params<adapted>);
  STATIC_REQUIRE(plan::state_fingerprint<InNf4<adapted>> != plan::state_fingerprint<adapted>);
}

}  // namespace monomorph::testing
