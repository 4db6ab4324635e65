// The simulated NCCL itself. Both ranks are of this process, on a stream each, as a mailbox does not mind. What a
// stream is given runs as early as it may: as late, one rank would wait for what the other one has not been asked for.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "simulator/mailbox.hpp"
#include "simulator/simulator.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace monomorph::simulator {
namespace {

using testing::contains;

Simulator& gpu() { return Simulator::the(); }

ncclResult_t error_of(ncclComm_t communicator) {
  ncclResult_t error = ncclSuccess;
  ncclCommGetAsyncError(communicator, &error);
  return error;
}

/// How a call ends, which NCCL may be done with behind it.
ncclResult_t settled(ncclResult_t result, ncclComm_t communicator) {
  while (result == ncclInProgress) result = error_of(communicator);
  return result;
}

/// @param device of the rank
ncclComm_t joined(const ncclUniqueId& id, int ranks, int rank, int device) {
  ncclComm_t communicator = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  gpu().set_device(device);
  CHECK(ncclCommInitRankConfig(&communicator, ranks, id, rank, &config) == ncclInProgress);
  gpu().set_device(0);
  return communicator;
}

/// Two ranks, each with four numbers of its own and room for eight.
struct Pair {
  ncclUniqueId id{};
  ncclComm_t ranks[2]{};
  cudaStream_t streams[2]{};
  float *sent[2]{}, *received[2]{};

  explicit Pair(int other_device = 1) {
    gpu().set_schedule({Schedule::Order::early});
    ncclGetUniqueId(&id);
    ranks[0] = joined(id, 2, 0, 0);
    CHECK(error_of(ranks[0]) == ncclInProgress);
    ranks[1] = joined(id, 2, 1, other_device);
    for (int rank : {0, 1}) {
      cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking);
      cudaMalloc(reinterpret_cast<void**>(&sent[rank]), 4 * sizeof(float));
      cudaMalloc(reinterpret_cast<void**>(&received[rank]), 8 * sizeof(float));
      const std::vector<float> numbers(4, static_cast<float>(rank + 1));
      cudaMemcpyAsync(sent[rank], numbers.data(), 4 * sizeof(float), cudaMemcpyDefault, streams[rank]);
      cudaStreamSynchronize(streams[rank]);
    }
  }
  Pair(const Pair&) = delete;
  ~Pair() {
    for (int rank : {0, 1}) {
      ncclCommAbort(ranks[rank]);
      cudaStreamSynchronize(streams[rank]);
      ncclCommDestroy(ranks[rank]);
      cudaFree(sent[rank]);
      cudaFree(received[rank]);
      cudaStreamDestroy(streams[rank]);
    }
    gpu().set_schedule({});
    gpu().take_races();
  }
  bool begin() const { return error_of(ranks[0]) == ncclSuccess && error_of(ranks[1]) == ncclSuccess; }
  /// The call has ended well, at once or behind it.
  void end(int rank, ncclResult_t result) const { CHECK(settled(result, ranks[rank]) == ncclSuccess); }
  void gather(int rank) const {
    end(rank, ncclAllGather(sent[rank], received[rank], 4, ncclFloat32, ranks[rank], streams[rank]));
  }
  void add_up(int rank) const {
    end(rank, ncclAllReduce(sent[rank], received[rank], 4, ncclFloat32, ncclSum, ranks[rank], streams[rank]));
  }
  std::vector<float> result(int rank, int n) const {
    std::vector<float> numbers(static_cast<std::size_t>(n));
    cudaMemcpyAsync(numbers.data(), received[rank], sizeof(float) * n, cudaMemcpyDefault, streams[rank]);
    cudaStreamSynchronize(streams[rank]);
    return numbers;
  }
};

/// What a child says that does this, before it ends.
std::string said_by(const std::function<void()>& act) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  for (char character = 0; read(ends[0], &character, 1) == 1;) text += character;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

TEST_CASE("ranks of the simulated NCCL gather, add up and exchange") {
  const Pair pair;
  REQUIRE(pair.begin());
  for (int rank : {0, 1}) pair.gather(rank);
  for (int rank : {0, 1}) CHECK(pair.result(rank, 8) == std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2});
  for (int rank : {0, 1})
    pair.end(rank, ncclReduceScatter(pair.received[rank], pair.received[rank] + 4 * rank, 4, ncclFloat32, ncclSum,
                                     pair.ranks[rank], pair.streams[rank]));
  CHECK(pair.result(0, 8) == std::vector<float>{2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(pair.result(1, 8) == std::vector<float>{1, 1, 1, 1, 4, 4, 4, 4});
  for (int rank : {0, 1}) pair.add_up(rank);
  for (int rank : {0, 1}) CHECK(pair.result(rank, 4) == std::vector<float>{3, 3, 3, 3});
  for (int rank : {0, 1}) {
    ncclGroupStart();
    ncclSend(pair.sent[rank], 16, ncclUint8, 1 - rank, pair.ranks[rank], pair.streams[rank]);
    ncclRecv(pair.received[rank], 16, ncclUint8, 1 - rank, pair.ranks[rank], pair.streams[rank]);
    pair.end(rank, ncclGroupEnd());
  }
  for (int rank : {0, 1}) CHECK(pair.result(rank, 4) == std::vector<float>(4, static_cast<float>(2 - rank)));
  CHECK(gpu().take_races().empty());
}

TEST_CASE("what is used while its collective is under way is a race") {
  const Pair pair;
  REQUIRE(pair.begin());
  for (int rank : {0, 1}) pair.gather(rank);
  cudaMemsetAsync(pair.sent[0], 0, 4, pair.streams[1]);
  cudaMemsetAsync(pair.received[0] + 7, 0, 4, pair.streams[1]);
  for (int rank : {0, 1}) cudaStreamSynchronize(pair.streams[rank]);
  const std::vector<std::string> races = gpu().take_races();
  CAPTURE(races);
  CHECK(races.size() >= 2);
  for (const std::string& race : races) CHECK(contains(race, "NCCL's "));
}

TEST_CASE("ranks that call different collectives, and ranks that wait for each other, end with a line") {
  const Pair pair;
  REQUIRE(pair.begin());
  CHECK(contains(said_by([&] {
                   gpu().set_time_limit(std::chrono::seconds(1));
                   pair.gather(0);
                   cudaStreamSynchronize(pair.streams[0]);
                 }),
                 "simulator: deadlock: the host waits for stream"));
  CHECK(contains(said_by([&] {
                   pair.gather(0);
                   pair.add_up(1);
                 }),
                 " where another one calls all-"));
}

TEST_CASE("an aborted communicator lets what waits for others go") {
  const Pair pair;
  REQUIRE(pair.begin());
  pair.gather(0);
  ncclCommAbort(pair.ranks[0]);
  CHECK(cudaStreamSynchronize(pair.streams[0]) == cudaSuccess);
  CHECK(ncclAllGather(pair.sent[0], pair.received[0], 4, ncclFloat32, pair.ranks[0], pair.streams[0]) ==
        ncclInvalidUsage);
}

TEST_CASE("of a call that is in progress the stream has nothing before it was asked about, and then all of it") {
  const Pair pair;
  REQUIRE(pair.begin());
  const auto gather = [&](int rank) {
    return ncclAllGather(pair.sent[rank], pair.received[rank], 4, ncclFloat32, pair.ranks[rank], pair.streams[rank]);
  };
  for (int rank : {0, 1}) CHECK(gather(rank) == ncclInProgress);
  CHECK(std::isnan(pair.result(0, 1)[0]));  // as it was allocated
  CHECK(contains(said_by([&] { gather(0); }), "while a call of the same communicator is in progress"));
  std::thread([&] { CHECK(error_of(pair.ranks[0]) == ncclInProgress); }).join();
  for (int rank : {0, 1}) pair.end(rank, ncclInProgress);
  CHECK(pair.result(0, 8) == std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(gather(0) == ncclSuccess);
}

TEST_CASE("an abort ends when no graph has the communicator's collectives any more") {
  const Pair pair;
  REQUIRE(pair.begin());
  cudaStreamBeginCapture(pair.streams[0], cudaStreamCaptureModeThreadLocal);
  pair.gather(0);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t recorded = nullptr;
  CHECK(cudaStreamEndCapture(pair.streams[0], &graph) == cudaSuccess);
  cudaGraphInstantiate(&recorded, graph, 0);
  cudaGraphDestroy(graph);
  std::atomic<bool> has_ended = false;
  std::thread abort([&] {
    ncclCommAbort(pair.ranks[0]);
    has_ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(has_ended);
  cudaGraphExecDestroy(recorded);
  abort.join();
  CHECK(has_ended);
}

TEST_CASE("a rank of a mailbox that ends is missed, unless it says that it leaves") {
  const std::string folder = Mailbox::make();
  const Mailbox first(folder, 0, 3, 0);
  CHECK(first.vanished() == -1);
  for (const int rank : {1, 2}) {
    const pid_t child = fork();
    if (child == 0) {
      Mailbox other(folder, rank, 3, 0);
      if (rank == 1) other.leave();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  CHECK(first.all_have_come());
  CHECK(first.vanished() == 2);
}

TEST_CASE("ranks that have the same GPU are refused by NCCL") {
  const Pair pair(0);
  CHECK(error_of(pair.ranks[0]) == ncclInvalidUsage);
}

}  // namespace monomorph::simulator
