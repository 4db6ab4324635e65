#include <monomorph/model/autograd_block.hpp>
#include <monomorph/run.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/one_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace monomorph;
using monomorph::testing::accumulate;

namespace {

/// x + W₂ dropout(gelu(W₁ x)): a block as a user writes it.
template <class R> struct MlpBlock : AutogradBlock<MlpBlock<R>> {
  static constexpr std::int64_t D = R::model.d_model, F = R::model.ff_width();
  struct Params : ParameterLayout {
    constexpr explicit Params(int block = 0) {
      using enum ParameterClass;
      take_tensor("mlp.up.weight", {F, D}, linear, initializers::matrix(R::model));
      take_tensor("mlp.up.bias", {1, F}, bias, initializers::zero);
      take_tensor("mlp.down.weight", {D, F}, linear, initializers::residual_matrix(R::model, block));
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 4 * D * F; }
  static at::Tensor compute(const AutogradInput& in) {
    const at::Tensor hidden =
        at::gelu(at::linear(in.x_BTD(), in.parameter("mlp.up.weight"), in.parameter("mlp.up.bias")));
    return in.x_BTD().add(
        at::linear(in.dropout(hidden, R::model.dropout.residual, 1), in.parameter("mlp.down.weight")));
  }
};

/// x + w x', where x' is the stream at the first token of the document.
template <class R> struct FirstTokenBlock : AutogradBlock<FirstTokenBlock<R>> {
  static constexpr bool within_documents = true;
  struct Params : ParameterLayout {
    constexpr explicit Params(int = 0) {
      take_tensor("scale.weight", {1, R::model.d_model}, ParameterClass::norm, initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static at::Tensor compute(const AutogradInput& in) {
    at::Tensor starts_BT1 = in.document_starts_BT();
    starts_BT1 = starts_BT1.defined() ? starts_BT1.to(at::kLong).unsqueeze(2)
                                      : at::zeros({in.batch(), in.tokens(), 1}, at::kLong);
    const at::Tensor first = in.x_BTD().gather(1, starts_BT1.expand_as(in.x_BTD()));
    return in.x_BTD().add(first.mul(in.parameter("scale.weight")));
  }
};

template <class Precision, class Checkpointing> struct with_autograd_block {
  static constexpr DecoderSpec model{.vocab_size = 61,
                                     .n_layers = 3,
                                     .n_heads = 2,
                                     .d_model = 12,
                                     .context_length = 7,
                                     .dropout = {.residual = 0.25},
                                     .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
  using layers = Stack<Run<DecoderBlock, 1>, Run<MlpBlock, 2>>;
  using sharding = sharding::Replicate;
  using precision = Precision;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
};
template <class Attention> struct with_first_tokens : with_autograd_block<precision::Fp64, checkpointing::EveryBlock> {
  using layers = Stack<Run<FirstTokenBlock, 2>, Run<DecoderBlock, 1>>;
  using attention = Attention;
};
using fp64_recipe = with_autograd_block<precision::Fp64, checkpointing::KeepAll>;

constexpr std::int64_t batch = 2, n_tokens = batch * 7;
const std::vector<std::int32_t> inputs = [] {
  std::vector<std::int32_t> ids;
  ids.reserve(n_tokens);
  for (int i = 0; i < n_tokens; ++i) ids.push_back(i * 17 % 61);
  return ids;
}();
const std::vector<std::int32_t> targets(inputs.rbegin(), inputs.rend());
const train::MicroBatch micro_batch{inputs.data(), targets.data(), 5};

template <class R> struct Run1 {
  std::unique_ptr<Communicator> communicator = one_rank();
  train::GeneratingStep<R> step{*communicator, batch, 3};
};

std::string bits_of(const std::vector<train::StateTensor>& tensors) {
  std::string bits;
  for (const auto& tensor : tensors)
    bits.append(tensor.view.as<const char>(), static_cast<std::size_t>(tensor.view.bytes()));
  return bits;
}

}  // namespace

namespace stranger_host {
/// A device from outside of the tree that computes on the host, with the kernels of the CPU.
struct Queue : cpu::Queue {};
struct Device : device::Cpu {
  static constexpr std::string_view name = "StrangerHost";
  using Queue = stranger_host::Queue;
};
}  // namespace stranger_host

TEST_CASE("a block that LibTorch differentiates runs on any device whose kernels have run when they return") {
  Run1<with_autograd_block<precision::Fp32, checkpointing::EveryBlock>> own;
  Run1<On<with_autograd_block<precision::Fp32, checkpointing::EveryBlock>, stranger_host::Device>> strange;
  CHECK(accumulate(strange.step, micro_batch, 4, {}).loss == accumulate(own.step, micro_batch, 4, {}).loss);
  CHECK((bits_of(strange.step.gradients()) == bits_of(own.step.gradients())));
}

TEST_CASE("gradients through an autograd block are those of central differences") {
  Run1<fp64_recipe> run;
  accumulate(run.step, micro_batch, 0, {});
  for (std::size_t i = 0; i < run.step.parameters().size(); ++i) {
    const auto parameter = run.step.parameters()[i], gradient = run.step.gradients()[i];
    INFO(parameter.name);
    for (const std::int64_t element : {std::int64_t{0}, parameter.view.elements() / 2, parameter.view.elements() - 1}) {
      const double analytic = gradient.view.as<double>()[element];
      double& value = parameter.view.as<double>()[element];
      const double kept = value, h = 1e-6;
      // Dropout is on: the mask depends on the step and the sample alone, so all three passes have the same.
      train::Step<fp64_recipe>& step = run.step;
      const std::string before = bits_of(step.gradients());
      value = kept + h;
      const double above = accumulate(step, micro_batch, 0, {}).loss;
      value = kept - h;
      const double below = accumulate(step, micro_batch, 0, {}).loss;
      value = kept;
      accumulate(step, micro_batch, 0, {});
      CHECK((bits_of(step.gradients()) == before));
      CHECK(analytic == Approx((above - below) / (2 * h)).epsilon(1e-6).margin(1e-7));
    }
  }
}

TEMPLATE_TEST_CASE("recomputing an autograd block gives the same gradients in bits", "", precision::Fp32,
                   precision::Bf16Mixed) {
  Run1<with_autograd_block<TestType, checkpointing::KeepAll>> kept;
  Run1<with_autograd_block<TestType, checkpointing::EveryBlock>> recomputed;
  Run1<with_autograd_block<TestType, checkpointing::EveryNthBlock<2>>> half;
  const double loss = accumulate(kept.step, micro_batch, 4, {}).loss;
  CHECK(accumulate(recomputed.step, micro_batch, 4, {}).loss == loss);
  CHECK(accumulate(half.step, micro_batch, 4, {}).loss == loss);
  const std::string bits = bits_of(kept.step.gradients());
  CHECK((bits_of(recomputed.step.gradients()) == bits));
  CHECK((bits_of(half.step.gradients()) == bits));
}

TEST_CASE("a second micro-batch adds to the gradients of an autograd block") {
  Run1<fp64_recipe> run;
  accumulate(run.step, micro_batch, 0, {});
  std::vector<double> once;
  for (const auto& tensor : run.step.gradients())
    once.insert(once.end(), tensor.view.template as<double>(),
                tensor.view.template as<double>() + tensor.view.elements());
  accumulate(run.step, micro_batch, 0, {1, 2});
  std::size_t i = 0;
  for (const auto& tensor : run.step.gradients())
    for (std::int64_t element = 0; element < tensor.view.elements(); ++element)
      CHECK(tensor.view.as<double>()[element] == Approx(2 * once[i++]).epsilon(1e-12).margin(1e-15));
}

TEST_CASE("an autograd block is told where documents begin") {
  // Rows of 3 + 4 and of 6 + 1 tokens; then each document begins a row of its own, in which the rest does not count.
  const std::vector<std::int32_t> starts{0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 6};
  Run1<with_first_tokens<attention::WithinDocuments>> together;
  Run1<with_first_tokens<attention::Causal>> alone;
  const LossSum loss = together.step.evaluate({inputs.data(), targets.data(), 0, starts.data()});
  double sum = 0;
  for (const auto& [first, length] : {std::pair{0, 3}, {3, 4}, {7, 6}, {13, 1}}) {
    std::vector<std::int32_t> ids(n_tokens, 0), own(n_tokens, ignored_target);
    std::copy_n(inputs.begin() + first, length, ids.begin());
    std::copy_n(targets.begin() + first, length, own.begin());
    sum += alone.step.evaluate({ids.data(), own.data(), 0}).loss;
  }
  CHECK(loss.tokens == n_tokens);
  CHECK(loss.loss == Approx(sum).epsilon(1e-12));
  CHECK(monomorph::testing::OneSequence(together.step, n_tokens / batch).feed(5) != nullptr);  // a text is one document
}

TEST_CASE("a recipe with a block that has no cache decodes as its forward pass says") {
  Run1<fp64_recipe> run;
  monomorph::testing::OneSequence decoder(run.step, n_tokens / batch);
  double loss = 0;
  for (int i = 0; i < 7; ++i) {
    const float* const logits = decoder.feed(inputs[i]);
    double sum = 0;
    for (int id = 0; id < 61; ++id) sum += std::exp(logits[id]);
    loss += std::log(sum) - logits[targets[i]];
  }
  std::vector<std::int32_t> first_only = targets;
  std::fill(first_only.begin() + 7, first_only.end(), ignored_target);
  CHECK(loss == Approx(run.step.evaluate({inputs.data(), first_only.data(), 0}).loss).epsilon(1e-5));
}
