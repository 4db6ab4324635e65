#include "runtime/nccl/watchdog.hpp"

#include "runtime/cuda/host/event.hpp"
#include "runtime/cuda/host/planned_memory.hpp"
#include "runtime/cuda/launch/count_up.hpp"
#include "runtime/distributed/failures.hpp"
#include "runtime/nccl/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace monomorph::cuda {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{10};
/// For what the host does meanwhile, as writing a checkpoint.
constexpr std::chrono::minutes least_until_end{5};

constexpr std::size_t most_streams = 8;

bool has_happened(cudaEvent_t event) { return cudaEventQuery(event) != cudaErrorNotReady; }
/// Which the GPU may change meanwhile.
bool has_come_to(const std::uint64_t& count, std::uint64_t number) {
  return std::atomic_ref(const_cast<std::uint64_t&>(count)).load() >= number;
}

}  // namespace

Watchdog::Watchdog(int device, std::vector<NcclGroup*> groups, std::chrono::milliseconds time_limit)
    : device_(device), groups_(std::move(groups)), time_limit_(time_limit) {
  counts_ = reinterpret_cast<Progress*>(take_host_memory(most_streams * sizeof(Progress), "counters of collectives"));
  std::fill_n(counts_, most_streams, Progress{});
  thread_ = std::thread([this] { look_after_all(); });  // last: a thread must be joined, whatever is refused
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  told_or_stops_.notify_one();
  thread_.join();
  for (const auto& [stream, on_stream] : streams_)
    for (const Watched& watched : on_stream.watched) take_back(watched);
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  cudaFreeHost(counts_);
}

/// The GPU's queue may be full, of what waits for a rank that has gone, and then CUDA's calls wait: the thread that
/// notices it must not wait for them.
void Watchdog::begin(const Purpose& purpose, cudaStream_t stream) {
  std::unique_lock lock(mutex_);
  if (is_recorded_) {
    recordings_.back().emplace_back(stream, purpose);
    return count_up({stream}, &progress_of(stream)->begun);
  }
  const cudaEvent_t begin = take_event(), end = take_event();
  lock.unlock();
  cuda::check(cudaEventRecord(begin, stream), "recording an event");
  lock.lock();
  streams_[stream].watched.push_back({purpose, begin, end});
}

void Watchdog::end(cudaStream_t stream) {
  std::unique_lock lock(mutex_);
  if (is_recorded_) return count_up({stream}, &progress_of(stream)->done);
  Watched& watched = streams_[stream].watched.back();  // whose end is not given is still there
  lock.unlock();
  cuda::check(cudaEventRecord(watched.end, stream), "recording an event");
  lock.lock();
  watched.is_given = true;
}

Watchdog::Progress* Watchdog::progress_of(cudaStream_t stream) {
  OnStream& on_stream = streams_[stream];
  if (on_stream.progress == nullptr) on_stream.progress = counts_ + n_counts_++;
  return on_stream.progress;
}

void Watchdog::begin_recording() {
  const std::lock_guard lock(mutex_);
  is_recorded_ = true;
  recordings_.emplace_back();
}
int Watchdog::end_recording() {
  const std::lock_guard lock(mutex_);
  is_recorded_ = false;
  return static_cast<int>(recordings_.size()) - 1;
}
void Watchdog::runs_recording(int recording) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, purpose] : recordings_[static_cast<std::size_t>(recording)]) {
    OnStream& on_stream = streams_[stream];
    on_stream.watched.push_back(
        {.purpose = purpose, .begin = nullptr, .end = nullptr, .number = ++on_stream.n_recorded, .is_given = true});
  }
}

cudaEvent_t Watchdog::take_event() {
  if (events_.empty()) return new_event();
  const cudaEvent_t event = events_.back();
  events_.pop_back();
  return event;
}

void Watchdog::check() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  is_told_ = true;
  told_or_stops_.notify_one();
  throw RankFailure(*failure_);
}

void Watchdog::look_after_all() {
  cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (!told_or_stops_.wait_for(lock, between_looks, [this] { return stops_; })) {
    failure_ = look();
    if (failure_) return fail(std::move(lock));
  }
}

/// `check` tells of the failure as soon as the first group is aborted. Where the host does not come to it, as it waits
/// in the driver for what no abort ends, the process ends here.
void Watchdog::fail(std::unique_lock<std::mutex> lock) {
  lock.unlock();
  std::vector<std::thread> aborts = begin_aborts();
  lock.lock();
  const auto most = std::max<std::chrono::milliseconds>(time_limit_, least_until_end);
  if (!told_or_stops_.wait_for(lock, most, [this] { return is_told_ || stops_; })) {
    fmt::print(stderr, "{}\n", failure_->what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
  lock.unlock();
  for (std::thread& abort : aborts) abort.join();
}

std::optional<RankFailure> Watchdog::look() {
  for (auto& [stream, on_stream] : streams_)
    if (auto failure = look_at(on_stream)) return failure;
  for (NcclGroup* const group : groups_) {
    const std::optional<ncclResult_t> result = group->failure();
    if (!result) continue;
    for (const auto& [stream, on_stream] : streams_)
      for (const Watched& watched : on_stream.watched)
        if (watched.purpose.group == group) return nccl_failure(*result).during(doing(watched.purpose));
    return nccl_failure(*result).during("no collective ran" + among(*group));
  }
  return std::nullopt;
}

/// Collectives of a stream run one after the other, and their time begins when the GPU comes to them.
std::optional<RankFailure> Watchdog::look_at(OnStream& stream) {
  std::deque<Watched>& all = stream.watched;
  while (!all.empty() && all.front().is_given && is_done(stream, all.front())) {
    take_back(all.front());
    all.pop_front();
  }
  if (all.empty() || !has_begun(stream, all.front())) return std::nullopt;
  Watched& running = all.front();
  if (!running.seen_begun) running.seen_begun = Clock::now();
  if (Clock::now() - *running.seen_begun < time_limit_) return std::nullopt;
  return distributed::silent_rank(std::nullopt, false).during(doing(running.purpose));
}

bool Watchdog::has_begun(const OnStream& stream, const Watched& watched) {
  return watched.begin != nullptr ? has_happened(watched.begin) : has_come_to(stream.progress->begun, watched.number);
}
bool Watchdog::is_done(const OnStream& stream, const Watched& watched) {
  return watched.end != nullptr ? has_happened(watched.end) : has_come_to(stream.progress->done, watched.number);
}
void Watchdog::take_back(const Watched& watched) {
  if (watched.begin != nullptr) events_.insert(events_.end(), {watched.begin, watched.end});
}

std::string Watchdog::doing(const Purpose& purpose) { return purpose.text(purpose.unit) + among(*purpose.group); }
std::string Watchdog::among(const NcclGroup& group) {
  return fmt::format(" among ranks {}", fmt::join(group.ranks().ranks, ", "));
}

/// One that is aborted may wait for another one, so all are aborted at the same time.
std::vector<std::thread> Watchdog::begin_aborts() {
  std::vector<std::thread> aborts;
  for (NcclGroup* const group : groups_)
    aborts.emplace_back([this, group] {
      cudaSetDevice(device_);
      group->abort();
    });
  return aborts;
}

}  // namespace monomorph::cuda
