// What a step asks of a GPU from its second one on, and how it ends where the GPU fails.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <string>

namespace monomorph::testing {
namespace {

using Order = Schedule::Order;
using InMemory = OnGpu<Small<gpt2_like>>;
using AllOnHost = OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>;

/// Experts' loads, and norms of matrices, are known on the GPU alone.
struct OfExperts : Small<llama_like> {
  using layers =
      Stack<Run<Mixture<MixtureSpec{.n_experts = 4, .top_k = 2, .balance_loss = 0.01, .bias_rate = 0.01}>::Block, 2>>;
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};

Simulator& gpu() { return Simulator::the(); }

/// Takes steps as a run does, which reads the outcome of one when it has asked for the next.
template <class R> void check_quiet_steps() {
  Training<R> training;
  train::Ticket last = training.take_step();
  training.read(last);
  const simulator::Counts first = gpu().counts();
  for (int i = 1; i <= 3; ++i) {
    const train::Ticket next = training.take_step();
    CHECK(gpu().counts().waits == first.waits + i - 1);
    CHECK(training.read(last).applied);
    CHECK(gpu().counts().waits == first.waits + i);
    last = next;
  }
  CHECK(gpu().counts().allocations == first.allocations);
  CHECK(gpu().counts().kernels > first.kernels);
}

template <class R> std::string error_of_steps() {
  return error_of([] {
    Training<R> training;
    training.read(training.take_step());
  });
}

/// The error of steps in which an operation fails, the n-th of what they ask for.
template <class R> std::string error_at(int operation, Order order) {
  gpu().set_schedule({order});
  gpu().fail_operation(operation);
  const std::string error = error_of_steps<R>();
  gpu().reset();
  gpu().set_schedule({});
  return error;
}

}  // namespace

TEST_CASE("from the second step on nothing is allocated, and the host waits for the outcome alone") {
  check_quiet_steps<InMemory>();
  check_quiet_steps<AllOnHost>();
  check_quiet_steps<OnGpu<OfExperts>>();
}

TEST_CASE("a step has all its memory when it is made") {
  Training<InMemory> training;
  const std::int64_t made = gpu().counts().allocations;
  training.read(training.take_step());
  CHECK(gpu().counts().allocations == made);
}

TEST_CASE("what is refused beside the arena leaves nothing, so that a smaller step may have it") {
  constexpr std::int64_t tokens = 1 << 20, mebibyte = 1 << 20, shared = 96 * mebibyte;  // more than any step here has
  constexpr std::int64_t planned =
      shared + device::Cuda::id_parts * device::Cuda::id_part_bytes(4 * tokens) + device::Cuda::recording_bytes;
  static_assert(device::Cuda::shared_workspace_bytes(planned, tokens) == shared);
  const auto reserve = [] { cuda::reserve_memory({}, planned, tokens); };
  const std::size_t free = gpu().memory().free_gpu_bytes();
  const char* const refusals[] = {
      "[GPU-05] 96.0 MiB of the GPU's memory must be free for the workspace of kernels, and ",
      "[GPU-05] 64.0 MiB of the GPU's memory must be free for token ids, and ",
      "[GPU-06] 64.0 MiB of the host's memory must be free for CUDA to keep token ids "};
  for (int n = 0; n < 3; ++n) {
    CAPTURE(n);
    gpu().fail_allocation(n);
    CHECK(contains(error_of(reserve), refusals[n]));
    CHECK(gpu().memory().free_gpu_bytes() >= free);
  }
  CHECK(error_of_steps<InMemory>() == "(no error)");  // which has what it needs, though less was left than there was
  CHECK(error_of(reserve) == "(no error)");
  const std::int64_t allocations = gpu().counts().allocations;
  CHECK(error_of(reserve) == "(no error)");
  CHECK(gpu().counts().allocations == allocations);
}

TEST_CASE("what a process keeps for the next step counts as free for it") {
  CHECK(error_of_steps<InMemory>() == "(no error)");  // whose workspace, and place for ids, the process keeps
  const auto free = [] { return *cuda::device_use({}).free_memory_bytes; };
  const std::int64_t before = free();
  CHECK(before > static_cast<std::int64_t>(gpu().memory().free_gpu_bytes()));
  constexpr std::int64_t tokens = 1 << 21, shared = std::int64_t{128} << 20;  // more than any step here has
  cuda::reserve_memory({},
                       shared + device::Cuda::id_parts * device::Cuda::id_part_bytes(4 * tokens) +
                           device::Cuda::recording_bytes,
                       tokens);
  CHECK(free() == before);
  {
    Training<InMemory> training;  // a step's arena is not
    CHECK(free() < before);
  }
  CHECK(free() == before);
}

TEST_CASE("a GPU or a host that has not enough memory is one line that says so") {
  error_of_steps<AllOnHost>();  // what a process allocates once is there
  gpu().fail_allocation(0);
  const std::string on_gpu = error_of_steps<AllOnHost>();
  CHECK(contains(on_gpu, "[GPU-05] the plan's "));
  CHECK(contains(on_gpu, " must be free, and "));
  CHECK(contains(on_gpu, "(out of memory)"));
  gpu().fail_allocation(1);
  const std::string on_host = error_of_steps<AllOnHost>();
  CHECK(contains(on_host, "[GPU-06] the plan's "));
  CHECK(contains(on_host, "(out of memory)"));
  CHECK(error_of_steps<AllOnHost>() == "(no error)");
}

TEST_CASE("a fault of the GPU is one line, wherever it comes, and what was in use ends") {
  const std::string reason = "(an illegal memory access was encountered)";
  for (const int operation : {0, 3, 50, 200}) {
    CAPTURE(operation);
    const std::string late = error_at<AllOnHost>(operation, Order::late);
    CHECK(contains(late, "[GPU-02] the GPU failed while "));
    CHECK(contains(late, reason));
    const std::string early = error_at<AllOnHost>(operation, Order::early);
    CAPTURE(early);
    CHECK((contains(early, "[GPU-02] the GPU failed while ") || contains(early, "[KERNEL-05] the GPU does not start") ||
           contains(early, "[GPU-04] cuBLASLt failed while starting a product")));
  }
  CHECK(error_of_steps<AllOnHost>() == "(no error)");
}

}  // namespace monomorph::testing
