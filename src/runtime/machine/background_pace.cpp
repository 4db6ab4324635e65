#include "background_pace.hpp"

#include <time.h>

namespace monomorph::runtime {
namespace {

constexpr int rest_per_work = 31;
constexpr std::chrono::milliseconds least_work{1};  ///< that is worth a rest

/// Time on a processor: a thread that waits for its disk has had its rest.
std::chrono::nanoseconds time_worked() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void BackgroundPace::rest() {
  const std::chrono::nanoseconds worked = time_worked() - worked_before_;
  if (worked < least_work) return;
  std::unique_lock lock(mutex_);
  hurried_.wait_for(lock, rest_per_work * worked, [this] { return hurries_; });
  worked_before_ = time_worked();
}

void BackgroundPace::hurry() {
  {
    const std::lock_guard lock(mutex_);
    hurries_ = true;
  }
  hurried_.notify_all();
}

}  // namespace monomorph::runtime
