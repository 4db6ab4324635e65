// The simulated GPU itself: in which orders it runs what it is given, what nobody may reach, and which races it sees.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <monomorph/core/error.hpp>

#include "runtime/cuda/host/check.hpp"
#include "simulator/simulator.hpp"
#include "support/catch.hpp"
#include "support/forked_child.hpp"

namespace monomorph::simulator {
namespace {

using Order = Schedule::Order;
using testing::end_of;

Simulator& gpu() { return Simulator::the(); }

/// Two streams with an event, and what runs on them as a text.
struct Streamed {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  std::string ran;

  explicit Streamed(const Schedule& schedule) {
    gpu().set_schedule(schedule);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  Streamed(const Streamed&) = delete;
  ~Streamed() {
    finish();
    cudaEventDestroy(event);
    cudaStreamDestroy(second);
    cudaStreamDestroy(first);
    gpu().set_schedule({});
    gpu().take_races();
  }
  void give(cudaStream_t stream, char name) {
    gpu().give(stream, "test", [this, name] { ran += name; });
  }
  void finish() {
    cudaStreamSynchronize(first);
    cudaStreamSynchronize(second);
  }
};

std::string order_of(const Schedule& schedule) {
  Streamed s(schedule);
  for (const char name : {'a', 'b', 'c'}) s.give(s.first, name);
  cudaEventRecord(s.event, s.first);
  s.give(s.second, '1');
  cudaStreamWaitEvent(s.second, s.event, 0);
  for (const char name : {'2', '3'}) s.give(s.second, name);
  s.give(s.first, 'd');
  s.finish();
  return s.ran;
}

/// Memory that a test gives back.
std::shared_ptr<std::byte> allocated(std::size_t bytes) {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
  return {static_cast<std::byte*>(memory), [](std::byte* m) { cudaFree(m); }};
}

/// What is found where one stream fills memory and the other one uses it, with what `between` does.
std::vector<std::string> races_of(const std::function<void(Streamed&)>& between, bool writes,
                                  std::size_t bytes_apart = 0) {
  Streamed s({});
  const auto memory = allocated(1024), target = allocated(1024);
  cudaMemsetAsync(memory.get(), 1, 256, s.first);
  between(s);
  std::byte* const used = memory.get() + bytes_apart;
  if (writes)
    cudaMemsetAsync(used, 2, 64, s.second);
  else
    cudaMemcpyAsync(target.get(), used, 64, cudaMemcpyDefault, s.second);
  s.finish();
  return gpu().take_races();
}

}  // namespace

TEST_CASE("streams run as late, as early, and in as many orders as events allow") {
  CHECK(order_of({Order::late}) == "abcd123");
  CHECK(order_of({Order::early}) == "abc123d");
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) orders.insert(order_of({Order::random, seed}));
  for (const std::string& order : orders) {
    CAPTURE(order);
    CHECK(order.find('c') < order.find('2'));
    CHECK(order.find('1') < order.find('2'));
    CHECK(order.find('2') < order.find('3'));
    CHECK(order.find('c') < order.find('d'));
  }
  // 1 stands before, between or behind a, b and c, and d before, between or behind 2 and 3, and before 1 if that is
  // last.
  CHECK(orders.size() == 13);
}

TEST_CASE("an event stands for what was given before it was recorded, and an event that was not for nothing") {
  Streamed s({Order::late});
  cudaStreamWaitEvent(s.second, s.event, 0);
  s.give(s.first, 'a');
  cudaEventRecord(s.event, s.first);
  s.give(s.first, 'b');
  s.give(s.second, '1');
  cudaEventSynchronize(s.event);
  CHECK(s.ran == "a");
  cudaStreamSynchronize(s.second);
  CHECK(s.ran == "a1");
}

TEST_CASE("the host cannot reach the GPU's memory, nor anybody what was freed or lies behind an end") {
  const auto memory = allocated(100);
  const auto read = [](const std::byte* at) { static_cast<void>(*static_cast<const volatile std::byte*>(at)); };
  CHECK(end_of([&] { read(memory.get()); }) == SIGSEGV);
  void* on_host = nullptr;
  cudaMallocHost(&on_host, 100);
  const auto* const bytes = static_cast<std::byte*>(on_host);
  CHECK(end_of([&] { read(bytes + 99); }) == 0);
  CHECK(end_of([&] { read(bytes + 256); }) == SIGSEGV);
  CHECK(bytes[0] == std::byte{0xFF});
  cudaFreeHost(on_host);
  CHECK(end_of([&] { read(bytes); }) == SIGSEGV);
}

TEST_CASE("memory is filled with what is asked, and nothing beside it is") {
  constexpr std::size_t all = std::size_t{7} << 20, first = 100, end = all - 300;
  Streamed s({});
  const auto memory = allocated(all);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, all) == cudaSuccess);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(pinned), all);
  for (const int value : {0, 3}) {
    cudaMemsetAsync(memory.get(), 5, all, s.first);
    cudaMemsetAsync(memory.get() + first, value, end - first, s.first);
    cudaMemcpyAsync(pinned, memory.get(), all, cudaMemcpyDefault, s.first);
    cudaStreamSynchronize(s.first);
    const auto is = [&](std::size_t from, std::size_t to, int expected) {
      return std::ranges::all_of(bytes.subspan(from, to - from), [&](std::byte b) { return b == std::byte(expected); });
    };
    CHECK(is(0, first, 5));
    CHECK(is(first, end, value));
    CHECK(is(end, all, 5));
  }
  cudaFreeHost(pinned);
}

TEST_CASE("what two streams do to the same memory is a race unless one waits for the other") {
  const auto nothing = [](Streamed&) {};
  CHECK(races_of(nothing, true).size() == 1);
  CHECK(races_of(nothing, false).size() == 1);
  CHECK(races_of(nothing, true, 256).empty());
  for (const bool writes : {false, true}) {
    CHECK(races_of(
              [](Streamed& s) {
                cudaEventRecord(s.event, s.first);
                cudaStreamWaitEvent(s.second, s.event, 0);
              },
              writes)
              .empty());
    CHECK(races_of([](Streamed& s) { cudaStreamSynchronize(s.first); }, writes).empty());
    CHECK(races_of([](Streamed& s) { cudaStreamSynchronize(s.second); }, writes).size() == 1);
    CHECK(races_of(
              [](Streamed& s) {
                cudaStreamWaitEvent(s.second, s.event, 0);
                cudaEventRecord(s.event, s.first);
              },
              writes)
              .size() == 1);
  }
}

TEST_CASE("races are seen in memory that is used block by block, and in parts of it") {
  constexpr std::size_t much = std::size_t{1} << 20, some = 64, at = much / 2 + some;
  const auto memory = allocated(much), of_first = allocated(much), of_second = allocated(much);
  const auto n_races = [](const std::function<void(Streamed&)>& use) {
    Streamed s({});
    use(s);
    s.finish();
    return gpu().take_races().size();
  };
  const auto fill = [&](cudaStream_t stream) { cudaMemsetAsync(memory.get(), 1, much, stream); };
  const auto read = [&](cudaStream_t stream, const std::shared_ptr<std::byte>& to, std::size_t from,
                        std::size_t bytes) {
    cudaMemcpyAsync(to.get(), memory.get() + from, bytes, cudaMemcpyDefault, stream);
  };
  const auto fill_and_read_twice = [&](Streamed& s) {
    fill(s.first);
    cudaStreamSynchronize(s.first);
    read(s.first, of_first, 0, much);
    read(s.second, of_second, 0, much);
  };
  CHECK(n_races([&](Streamed& s) { fill(s.first), fill(s.second); }) == 1);
  CHECK(n_races([&](Streamed& s) { fill(s.first), read(s.second, of_second, 0, much); }) == 1);
  CHECK(n_races([&](Streamed& s) { fill(s.first), fill(s.first); }) == 0);
  CHECK(n_races(fill_and_read_twice) == 0);
  CHECK(n_races([&](Streamed& s) { fill_and_read_twice(s), fill(s.first); }) == 1);
  const auto others = allocated(much);  // which nobody has used in parts
  CHECK(n_races([&](Streamed& s) {
          cudaMemsetAsync(others.get(), 1, much, s.first);
          cudaMemcpyAsync(of_second.get(), others.get() + at, some, cudaMemcpyDefault, s.second);
        }) == 1);
  CHECK(n_races([&](Streamed& s) { fill(s.first), read(s.second, of_second, at, some); }) == 1);
  const auto write_some = [&](cudaStream_t stream) { cudaMemsetAsync(memory.get() + at, 2, some, stream); };
  CHECK(n_races([&](Streamed& s) { fill_and_read_twice(s), write_some(s.first); }) == 1);
  CHECK(n_races([&](Streamed& s) {
          fill_and_read_twice(s);
          cudaStreamSynchronize(s.second);
          write_some(s.first);
        }) == 0);
}

TEST_CASE("a race is told with both operations") {
  const std::vector<std::string> races = races_of([](Streamed&) {}, false);
  REQUIRE(races.size() == 1);
  CHECK_THAT(races[0], Catch::Matchers::Contains("copy ") && Catch::Matchers::Contains(" reads what fill ") &&
                           Catch::Matchers::Contains(" writes, and neither waits for the other"));
}

TEST_CASE("a fault drops what comes behind it, and every call says so") {
  Streamed s({Order::late});
  s.give(s.first, 'a');
  gpu().fail_operation(1);
  s.give(s.first, 'b');
  s.give(s.first, 'c');
  CHECK(cudaStreamSynchronize(s.first) == cudaErrorIllegalAddress);
  CHECK(s.ran == "a");
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 1) == cudaErrorIllegalAddress);
  CHECK(cudaEventRecord(s.event, s.first) == cudaErrorIllegalAddress);
  gpu().reset();
  s.give(s.first, 'd');
  CHECK(cudaStreamSynchronize(s.first) == cudaSuccess);
  CHECK(s.ran == "ad");
}

TEST_CASE("an allocation fails when it is told to, and when the GPU has no more") {
  gpu().fail_allocation(1);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 1) == cudaSuccess);
  void* none = nullptr;
  CHECK(cudaMallocHost(&none, 1) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&none, Memory::gpu_bytes) == cudaErrorMemoryAllocation);
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  CHECK(free == total - 1);
  cudaFree(memory);
}

TEST_CASE("memory that CUDA refuses beside the arena is the user's matter, any other failure is the GPU's") {
  CHECK_NOTHROW(cuda::check(cudaSuccess, "waiting"));
  CHECK_THROWS_WITH(cuda::check(cudaErrorMemoryAllocation, "allocating a workspace"),
                    Catch::Contains("[GPU-05]") && Catch::Contains("while allocating a workspace"));
  CHECK_THROWS_AS(cuda::check(cudaErrorMemoryAllocation, "allocating a workspace"), UsageError);
  CHECK_THROWS_WITH(cuda::check(cudaErrorLaunchFailure, "computing"), Catch::Contains("[GPU-02]"));
}

}  // namespace monomorph::simulator
