// Counts what the kernels of one step of a recipe would move and compute on a GPU: gpu_count_<recipe> <micro-batch>
// [<micro-batches a step>] prints JSON. Nothing is computed, and no memory is used.
#include "bench/gpu/counting_device.hpp"
#include "bench/gpu/recipes.hpp"
#include "bench/step/random_step.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <fmt/format.h>

using namespace monomorph;
using R = On<RECIPE, bench::counting::Device>;
using OnGpu = On<RECIPE, device::Cuda>;

int main(int argc, char** argv) {
  const int micro_batch = bench::argument(argc, argv, 1, 1);
  const int accumulated = bench::argument(argc, argv, 2, 1);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 0);
  const bench::RandomBatch<R> batch(static_cast<std::int64_t>(micro_batch) * accumulated);
  bench::take_step(step, batch, micro_batch, 1);
  bench::counting::counted().clear();  // what only the first step does
  bench::take_step(step, batch, micro_batch, 2);
  constexpr const DecoderSpec& m = R::model;
  const plan::Memory memory = plan::memory<OnGpu>(1, micro_batch);
  fmt::print(
      "{{\"recipe\": \"{}\", \"micro_batch\": {}, \"micro_batches\": {}, \"tokens\": {}, \"memory_bytes\": {}, "
      "\"optimizer_workspace_bytes\": {},\n"
      " \"sizes\": {{\"layers\": {}, \"width\": {}, \"queries\": {}, \"keys\": {}, \"hidden\": {}, \"gated\": {}, "
      "\"vocabulary\": {}, \"context\": {}, \"tied\": {}, \"fp8\": {}}},\n \"kernels\": {{",
      R_NAME, micro_batch, accumulated, micro_batch * accumulated * m.context_length, memory.budgeted(),
      memory.optimizer_workspace, int{m.n_layers}, std::int64_t{m.d_model}, m.q_width(), m.kv_width(), m.ff_width(),
      is_gated(m.activation), m.padded_vocab(), std::int64_t{m.context_length}, bool{m.tied_head},
      scales_products<R::precision>);
  const char* before = "";
  for (const auto& [kernel, sum] : bench::counting::counted()) {
    fmt::print(
        "{}\n  \"{}\": {{\"calls\": {}, \"read\": {:.0f}, \"written\": {:.0f}, \"products\": {:.0f}, "
        "\"fp8_products\": {:.0f}, \"fp32_products\": {:.0f}, \"attention\": {:.0f}}}",
        before, kernel, sum.calls, sum.cost.read, sum.cost.written, sum.cost.products, sum.cost.fp8_products,
        sum.cost.fp32_products, sum.cost.attention);
    before = ",";
  }
  fmt::print("}}}}\n");
}
