#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace monomorph::distributed {

/// A thread that runs what it is given, one after the other, beside the thread that computes: a stream of collectives.
/// After a failure it runs nothing more, and every wait throws that failure.
class Lane {
 public:
  Lane();
  ~Lane();
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
  std::deque<std::function<void()>> jobs_;
  std::uint64_t n_submitted_ = 0;
  std::atomic<std::uint64_t> n_done_{0};
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace monomorph::distributed
