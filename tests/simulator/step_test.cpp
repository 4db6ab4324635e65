// The whole step through the device cuda, on a simulated GPU: it trains as on a CPU.
#include "simulator/simulator.hpp"
#include "support/catch.hpp"
#include "support/gpu_step.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

/// Greatest relative difference of the losses of 20 steps.
template <class R> double difference() {
  constexpr int n_steps = 20;
  const std::vector<double> cpu = losses_of<R>(n_steps), gpu = losses_of<OnGpu<R>>(n_steps);
  double greatest = 0;
  for (int i = 0; i < n_steps; ++i) greatest = std::max(greatest, std::abs(gpu[i] / cpu[i] - 1));
  CHECK(cpu.back() < cpu.front());
  return greatest;
}

template <class R> struct ByMuon : R { using optimizer = optim::ByClass<optim::Muon, optim::AdamW>; };

template <class R> std::int64_t products_of_step() {
  Training<OnGpu<R>> training;
  const std::int64_t before = simulator::Simulator::the().counts().products;
  training.read(training.take_step());
  return simulator::Simulator::the().counts().products - before;
}

}  // namespace

TEST_CASE("a step has the products of one matrix of each shape that Muon transforms") {
  // Queries and output, keys and values, gate and up, down; an iteration has three products.
  constexpr std::int64_t blocks = 2, shapes = 4, iterations = 5;
  using Model = Small<llama_like>;
  CHECK(products_of_step<ByMuon<Model>>() - products_of_step<Model>() == blocks * shapes * iterations * 3);
}

TEST_CASE("20 steps on a simulated GPU have the losses of a CPU: learned positions, tied head, dropout, fp32") {
  CHECK(difference<Small<gpt2_like>>() < 1e-7);
}
TEST_CASE("20 steps on a simulated GPU have the losses of a CPU: rotary positions, head of its own, fp32") {
  CHECK(difference<Small<llama_like>>() < 1e-7);
}
TEST_CASE("20 steps on a simulated GPU have the losses of a CPU: learned positions, tied head, dropout, bf16") {
  CHECK(difference<InBf16<Small<gpt2_like>>>() < 2e-4);
}
TEST_CASE("20 steps on a simulated GPU have the losses of a CPU: rotary positions, head of its own, bf16") {
  CHECK(difference<InBf16<Small<llama_like>>>() < 2e-4);
}

}  // namespace monomorph::testing
