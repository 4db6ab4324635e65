#include "runtime/nccl/watchdog.hpp"

#include "runtime/cuda/host/event.hpp"
#include "runtime/distributed/failures.hpp"
#include "runtime/nccl/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

namespace monomorph::cuda {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{10};

bool has_happened(cudaEvent_t event) { return cudaEventQuery(event) != cudaErrorNotReady; }

}  // namespace

Watchdog::Watchdog(int device, std::vector<NcclGroup*> groups, std::chrono::milliseconds time_limit)
    : device_(device), groups_(std::move(groups)), time_limit_(time_limit), thread_([this] { look_after_all(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  stops_changed_.notify_one();
  thread_.join();
  for (const auto& [stream, on_stream] : watched_)
    for (const Watched& watched : on_stream) events_.insert(events_.end(), {watched.begin, watched.end});
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
}

void Watchdog::begin(const Purpose& purpose, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const cudaEvent_t begin = take_event(), end = take_event();
  cuda::check(cudaEventRecord(begin, stream), "recording an event");
  watched_[stream].push_back({purpose, begin, end});
}

void Watchdog::end(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Watched& watched = watched_[stream].back();  // whose end is not given is still there
  cuda::check(cudaEventRecord(watched.end, stream), "recording an event");
  watched.is_given = true;
}

cudaEvent_t Watchdog::take_event() {
  if (events_.empty()) return new_event();
  const cudaEvent_t event = events_.back();
  events_.pop_back();
  return event;
}

void Watchdog::check() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw RankFailure(*failure_);
}

void Watchdog::look_after_all() {
  cudaSetDevice(device_);
  std::unique_lock lock(mutex_);
  while (!stops_changed_.wait_for(lock, between_looks, [this] { return stops_; })) {
    failure_ = look();
    if (!failure_) continue;
    lock.unlock();  // `check` tells of it as soon as the first group is aborted
    return abort_all();
  }
}

std::optional<RankFailure> Watchdog::look() {
  for (auto& [stream, on_stream] : watched_)
    if (auto failure = look_at(on_stream)) return failure;
  for (NcclGroup* const group : groups_) {
    const std::optional<ncclResult_t> result = group->failure();
    if (!result) continue;
    for (const auto& [stream, on_stream] : watched_)
      for (const Watched& watched : on_stream)
        if (watched.purpose.group == group) return nccl_failure(*result).during(doing(watched.purpose));
    return nccl_failure(*result);
  }
  return std::nullopt;
}

/// Collectives of a stream run one after the other, and their time begins when the GPU comes to them.
std::optional<RankFailure> Watchdog::look_at(std::deque<Watched>& on_stream) {
  while (!on_stream.empty() && on_stream.front().is_given && has_happened(on_stream.front().end)) {
    events_.insert(events_.end(), {on_stream.front().begin, on_stream.front().end});
    on_stream.pop_front();
  }
  if (on_stream.empty() || !has_happened(on_stream.front().begin)) return std::nullopt;
  Watched& running = on_stream.front();
  if (!running.seen_begun) running.seen_begun = Clock::now();
  if (Clock::now() - *running.seen_begun < time_limit_) return std::nullopt;
  return distributed::silent_rank(std::nullopt, false).during(doing(running.purpose));
}

std::string Watchdog::doing(const Purpose& purpose) {
  return fmt::format("{} among ranks {}", purpose.text(purpose.unit), fmt::join(purpose.group->ranks().ranks, ", "));
}

/// One that is aborted may wait for another one, so all are aborted at the same time.
void Watchdog::abort_all() {
  std::vector<std::thread> aborts;
  for (NcclGroup* const group : groups_)
    aborts.emplace_back([this, group] {
      cudaSetDevice(device_);
      group->abort();
    });
  for (std::thread& abort : aborts) abort.join();
}

}  // namespace monomorph::cuda
