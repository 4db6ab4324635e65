#pragma once
#include <cstdint>
#include <monomorph/runtime/machine/background_queue.hpp>
#include <monomorph/runtime/machine/pending.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph {

/// Copies between two memory spaces, one after the other, beside what the calling thread computes.
class Transfers {
 public:
  /// `late` copies nothing before somebody waits for it, which is as late as a schedule lets it: for tests.
  enum class Timing { at_once, late };
  explicit Transfers(Timing timing) : timing_(timing) {}

  /// to = from, of equal dtype and length. Until the copy is done, nobody may write `from` or touch `to`.
  /// @return the copy's number: 1, 2, …
  std::uint64_t start(View from, View to);
  /// Returns when the copies up to this number are done.
  void wait(std::uint64_t number);
  /// Returns when all copies are done.
  void wait_for_all() { wait(n_started_); }

 private:
  struct Copy {
    View from, to;
  };
  void run_next();

  Timing timing_;
  Pending<Copy> copies_;
  std::uint64_t n_started_ = 0, n_late_ = 0;
  std::mutex mutex_;
  BackgroundQueue queue_;  // last: its thread uses the members above
};

}  // namespace monomorph
