#pragma once
#include "simulator/capture.hpp"
#include "simulator/memory.hpp"
#include "simulator/races.hpp"
#include "simulator/streams.hpp"
#include "simulator/timeline.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A GPU that this machine plays (docs/why/simulator.md): what libcudart and libcublasLt are to the backend, behind
/// their own headers.
namespace monomorph::simulator {

/// What a call of CUDA's runtime returns, by its number there.
enum class Status {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  illegal_address = 700,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  captured_event = 907,
  capture_wrong_thread = 908,
  graph_update_failure = 910
};

/// What the GPU was asked for since the process began.
struct Counts {
  std::int64_t allocations = 0, waits = 0, kernels = 0, products = 0, copies = 0, collectives = 0, moments = 0,
               graphs = 0;
  std::array<std::int64_t, 3> products_by{};  ///< by the number of cuBLASLt's algorithm, in the order of its advice
};

class Simulator {
 public:
  static Simulator& the();

  // For tests.
  void set_schedule(const Schedule& schedule) { streams_.set_schedule(schedule); }
  const Counts& counts() const { return counts_; }
  std::vector<std::string> take_races() { return races_.take(); }
  /// One that shows in another way than by streams.
  void add_race(std::string line) { races_.add(std::move(line)); }
  /// The n-th allocation from now on fails, from 0 on, and later ones do not.
  void fail_allocation(int n) { allocations_until_failure_ = n; }
  /// The n-th kernel from now on is not started, as there is no memory for its code, and later ones are.
  void fail_kernel(int n) { kernels_until_failure_ = n; }
  /// The n-th operation from now on is a fault, as an access beyond all memory is: it does nothing, those behind it are
  /// dropped, and every call from then on says so.
  void fail_operation(int n) { operations_until_failure_ = n; }
  /// Whether cuBLASLt knows epilogues that activate.
  void set_has_epilogues(bool has) { has_epilogues_ = has; }
  bool has_epilogues() const { return has_epilogues_; }
  /// The next captures, so many, come to nothing, as where something is asked for that can't be captured.
  void refuse_captures(int n) { captures_to_refuse_ = n; }
  /// Without the fault, and all that it has dropped.
  void reset();
  /// Where the program waits, as addresses in its file: where the host waits that of the call of CUDA, and where a
  /// stream waits that of the call around it, too, as the backend waits for the step in one function. Where it becomes
  /// a part of a graph, "graph" comes before.
  const std::set<std::string>& places_of_waits() const { return places_of_waits_; }
  /// What waits at such a place goes on without waiting.
  void skip_wait(const std::string& place) { skipped_wait_ = place; }
  /// Is told of the memory that operations read and write from now on.
  using Observer = std::function<void(const void* begin, std::size_t bytes, bool writes)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  /// Adds what runs from now on, if it is not null; it must live until another one is given.
  void follow(Timeline* timeline) { timeline_ = timeline; }
  /// What nobody has waited for runs now.
  void finish();

  /// How long the host waits while nothing can run, as ranks wait for each other, before the program ends and says so.
  void set_time_limit(std::chrono::seconds limit) { time_limit_ = limit; }

  // For what stands for CUDA's libraries.
  int n_gpus() const { return n_gpus_; }
  int device() const { return device_; }  ///< the number of the GPU that this process plays
  void set_device(int device) { device_ = device; }
  /// Of each GPU; at first that of Hopper.
  struct ComputeCapability {
    int major = 9, minor = 0;
  };
  ComputeCapability compute_capability() const { return compute_capability_; }
  void set_compute_capability(int major, int minor) { compute_capability_ = {major, minor}; }
  Memory& memory() { return memory_; }
  Streams& streams() { return streams_; }
  Counts& counts() { return counts_; }
  Status status() const { return status_; }
  /// Microseconds: every kernel, product, copy and half of a collective takes one, and nothing else takes any.
  std::uint64_t time() const { return time_; }
  std::byte* allocate(std::size_t bytes, Memory::Kind kind);
  bool refuses_kernel() { return kernels_until_failure_-- == 0; }
  void release(std::byte* memory) { races_.forget(memory, memory_.release(memory)); }
  /// @return the simulator's status
  Status give(CUstream_st* stream, std::string_view what, std::function<void()> run, std::function<bool()> ready = {});
  /// Notes the time when the stream has come to it.
  Status give_moment(CUstream_st* stream, std::shared_ptr<std::uint64_t> moment);
  Status record(CUevent_st* event, CUstream_st* stream);
  /// @param caller the address to which CUDA's function returns
  Status hold(CUstream_st* stream, const CUevent_st& event, const void* caller);
  /// Of the host, for a stream's end or an event.
  Status wait_for(const Place& place, const void* caller);

  // Graphs (capture.hpp).
  Status begin_capture(CUstream_st* stream, Capture::Mode mode);
  Status end_capture(CUstream_st* stream, Graph& graph);
  Status launch(const Graph& graph, CUstream_st* stream);
  /// A call that the calling thread may not make while a capture goes on, which ends that.
  bool refuses_in_capture();
  /// Of the operation that runs.
  void reads(const void* begin, std::size_t bytes) { access(begin, bytes, false); }
  void writes(const void* begin, std::size_t bytes) { access(begin, bytes, true); }

 private:
  void access(const void* begin, std::size_t bytes, bool writes) {
    if (observer_) observer_(begin, bytes, writes);
    races_.access(begin, bytes, writes);
  }
  /// The environment's MONOMORPH_SIMULATOR_FAULT=<n> is fail_operation(n), MONOMORPH_SIMULATOR_REFUSAL=<n>
  /// fail_allocation(n), MONOMORPH_SIMULATOR_REFUSED_KERNEL=<n> fail_kernel(n) and MONOMORPH_SIMULATOR_GPUS=<n> the
  /// number of GPUs, for tests of whole programs. MONOMORPH_SIMULATOR_OPERATIONS=<file> gets how many operations have
  /// run when the program ends, which is the n of the next. A place that waits is told from others by at least
  /// MONOMORPH_SIMULATOR_CALLS=<n> calls, one around the other.
  Simulator();
  void run(const Operation& operation);
  void idle(const CUstream_st& stream);
  Status returned();
  bool skips_wait(const void* caller, int n_calls, bool is_captured);
  CUstream_st* stream_of_branch(std::size_t branch);

  Memory memory_;
  Races races_{memory_};
  Streams streams_{[this](const Operation& operation) { run(operation); },
                   [this](const CUstream_st& stream) { idle(stream); }};
  Counts counts_;
  std::atomic<Status> status_ = Status::success;  ///< at which other threads may look
  std::chrono::steady_clock::time_point last_run_ = std::chrono::steady_clock::now();
  std::chrono::seconds time_limit_{60};
  std::uint64_t time_ = 0;
  Observer observer_;
  Timeline* timeline_ = nullptr;
  int n_gpus_ = 1, calls_of_place_ = 1;
  ComputeCapability compute_capability_;
  std::atomic<int> device_ = 0;
  int allocations_until_failure_ = -1, operations_until_failure_ = -1, captures_to_refuse_ = 0;
  std::int64_t kernels_until_failure_ = -1;
  std::mutex capture_mutex_;            ///< as any thread may ask for an event
  std::shared_ptr<Capture> capture_;    ///< the one that goes on, if one does
  std::vector<CUstream_st*> branches_;  ///< streams on which the branches of graphs run, but for the first
  std::string skipped_wait_;
  bool has_epilogues_ = true;
  std::set<std::string> places_of_waits_;
};

}  // namespace monomorph::simulator
