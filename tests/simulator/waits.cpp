// simulator_waits memory|steps|recorded [<place>]: what the backend does that waits for something, on streams that run
// as late as they may and kernels whose accesses are observed; all of it, or without the waits of one place. Prints
// what comes of it and the places of all waits, and ends with 1 after a race. delete_waits.py compares.
#include "runtime/cuda/host/staging.hpp"
#include "simulator/simulated_step.hpp"

#include <monomorph/runtime/memory/arena.hpp>

#include <fmt/format.h>
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>

namespace monomorph::testing {
namespace {

/// As small as copies on both ways still overtake each other.
struct tiny : gpt2_like {
  static constexpr DecoderSpec model{
      .vocab_size = 50, .n_layers = 4, .n_heads = 1, .d_model = 16, .context_length = 8, .vocab_multiple = 64};
};

std::uint64_t hash_of_view(View view) {
  HostBuffer buffer;
  return hash_of({{.name = "", .view = cuda::copy_to_host({}, view, buffer)}});
}

/// Memory of the GPU, or the host's beside it, as a row of fp32.
class Row {
 public:
  explicit Row(std::int64_t elements, const Allocator& allocator = cuda::allocator({}))
      : arena_(elements * size_of(DType::fp32), allocator), view_(arena_.take(elements, DType::fp32)) {}
  View view() const { return view_; }

 private:
  Arena arena_;
  View view_;
};

/// Alone, or what waits for parameters has waited for activations, too.
struct offloaded : tiny {
  using checkpointing = monomorph::checkpointing::Offload<>;
};

/// A workspace goes while a kernel has not run that writes to it.
void grow_workspace() {
  for (const std::int64_t elements : {1 << 10, 1 << 16}) {
    const View workspace{cuda::workspace({}, elements * size_of(DType::fp32)), DType::fp32, {1, elements}};
    cuda::fill({}, workspace, 1.0);
  }
}
/// The ring comes around, and then gets parts that are larger, while copies from it have not run.
std::uint64_t copy_ids() {
  const Row result(64);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 24; ++i) {
    constexpr std::size_t quarter_of_a_part = std::size_t{1} << 18;
    ids.resize(i < 23 ? quarter_of_a_part : 5 * quarter_of_a_part);
    std::iota(ids.begin(), ids.end(), i);
    const std::int32_t* const on_gpu = cuda::on_device({}, ids.data(), std::ssize(ids));
    auto* const bytes = reinterpret_cast<std::byte*>(const_cast<std::int32_t*>(on_gpu));
    cuda::add({}, {bytes, DType::fp32, {1, 64}}, result.view());
  }
  return hash_of_view(result.view());
}
/// A step with more memory than there was is made while a kernel has not run that writes to a workspace, and then
/// another one, with more tokens, while one has not run that reads ids.
std::uint64_t reserve_more() {
  constexpr std::int64_t elements = 1 << 18;
  const auto reserve = [](std::int64_t tokens) {
    constexpr std::int64_t workspace_bytes = 64 << 20;
    cuda::reserve_memory({}, workspace_bytes - device::Cuda::shared_workspace_bytes(0, tokens), tokens);
  };
  cuda::fill({}, {cuda::workspace({}, elements * size_of(DType::fp32)), DType::fp32, {1, elements}}, 1.0);
  reserve(1);
  const Row result(64);
  const std::vector<std::int32_t> ids(64, 7);
  const std::int32_t* const on_gpu = cuda::on_device({}, ids.data(), std::ssize(ids));
  auto* const bytes = reinterpret_cast<std::byte*>(const_cast<std::int32_t*>(on_gpu));
  cuda::add({}, {bytes, DType::fp32, {1, 64}}, result.view());
  reserve(1 << 23);
  return hash_of_view(result.view());
}
/// Memory of the GPU and of the host, and a stream of copies.
void end_what_is_in_use() {
  { const Row unused(1 << 10); }
  const Row on_gpu(1 << 10);
  {
    const Row on_host(1 << 10, cuda::host_allocator({}));
    cuda::copy({}, on_gpu.view(), on_host.view());
  }
  const Row on_host(1 << 10, cuda::host_allocator({}));
  cuda::fill({}, on_gpu.view(), 1.0);
  cuda::transfers({}, Transfers::Timing::at_once).start(on_gpu.view(), on_host.view());
}

template <class R> void train(std::string_view name, bool recorded = false) {
  Training<OnGpu<R>> training;
  training.step().record_steps(recorded);
  for (int i = 0; i < 2; ++i) fmt::print("{} loss {}\n", name, training.read(training.take_step()).loss);
  fmt::print("{} {}\n", name, training.step().take_recording_note());
  const double evaluated = training.step().evaluate(sequences.from(1, R::model.context_length)).loss;
  fmt::print("{} evaluated {} state {:x}\n", name, evaluated, training.state_hash());
}

void use_memory() {
  grow_workspace();
  fmt::print("ids {:x}\n", copy_ids());
  fmt::print("ids of a step {:x}\n", reserve_more());
  end_what_is_in_use();
}
void take_steps() {
  train<offloaded>("activations");
  train<KeptOnHost<tiny>>("all");
}

void take_recorded_steps() {
  train<offloaded>("activations", true);
  train<KeptOnHost<tiny>>("all", true);
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  using namespace monomorph::testing;
  const std::string_view part = argc > 1 ? argv[1] : "";
  if ((argc != 2 && argc != 3) || (part != "memory" && part != "steps" && part != "recorded")) return 2;
  if (argc == 3) Simulator::the().skip_wait(argv[2]);
  part == "memory" ? use_memory() : part == "steps" ? take_steps() : take_recorded_steps();
  Simulator::the().finish();
  const auto races = Simulator::the().take_races();
  for (const std::string& race : races) fmt::print("race: {}\n", race);
  for (const std::string& place : Simulator::the().places_of_waits()) fmt::print("place: {}\n", place);
  return races.empty() ? 0 : 1;
}
