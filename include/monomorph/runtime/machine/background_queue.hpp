#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <monomorph/runtime/machine/pending.hpp>
#include <mutex>
#include <thread>

namespace monomorph {

/// Runs jobs, collectives or copies, one after the other on a thread of its own, beside the thread that computes. After
/// a job has failed it runs no more, and waiting for a job that was not done throws that failure.
class BackgroundQueue {
 public:
  BackgroundQueue();
  ~BackgroundQueue();
  /// @return the job's number: 1, 2, …
  std::uint64_t submit(std::function<void()> job);
  /// Returns when the jobs up to this number are done. @throws what one of them threw
  void wait(std::uint64_t number);
  /// Returns when the jobs up to this number are done, or will never be.
  void settle(std::uint64_t number);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable submitted_, done_;
  Pending<std::function<void()>> jobs_;
  std::uint64_t n_submitted_ = 0;
  std::atomic<std::uint64_t> n_done_{0};
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace monomorph
