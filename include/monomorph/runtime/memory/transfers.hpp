#pragma once
#include <array>
#include <cstdint>
#include <monomorph/core/owned.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <utility>

namespace monomorph {

/// Copies between two memory spaces, one after the other, beside what the calling thread computes.
class Transfers {
 public:
  /// `late` copies nothing before somebody waits for it, which is as late as a schedule lets it: for tests.
  enum class Timing { at_once, late };
  explicit Transfers(Timing timing);
  Transfers(const Transfers&) = delete;
  ~Transfers();

  /// to = from, of equal dtype and length. Until the copy is done, nobody may write `from` or touch `to`.
  /// @return the copy's number: 1, 2, …
  std::uint64_t start(View from, View to);
  /// Returns when the copies up to this number are done.
  void wait(std::uint64_t number);
  /// Returns when all copies are done.
  void wait_for_all();

 private:
  struct Copies;  // its thread's headers would be read with every recipe
  Owned<Copies> copies_;
};

/// The same, in its turn on the queue of a device that runs functions of the host: a copy begins when those kernels
/// have run that the queue was given before it.
template <class Queue> class QueuedTransfers {
 public:
  QueuedTransfers(Queue queue, Transfers::Timing timing) : transfers_(timing), queue_(queue) {}

  /// Starts a copy. Until it is waited for, what the queue is given may not write `from` or touch `to`.
  std::uint64_t start(View from, View to) {
    once(queue_, [this, from, to] { transfers_.start(from, to); });
    return ++n_started_;
  }
  /// What the queue is given from now on runs when the copies up to this number are done. The host does not wait.
  void wait(std::uint64_t number) {
    once(queue_, [this, number] { transfers_.wait(number); });
  }
  /// The same of all copies.
  void wait_for_all() { wait(n_started_); }

 protected:
  Transfers transfers_;

 private:
  Queue queue_;
  std::uint64_t n_started_ = 0;
};

namespace cpu {
/// Every device has this function: what copies between its memory and that of its host_allocator, with the functions of
/// QueuedTransfers.
inline QueuedTransfers<Queue> transfers(Queue queue, Transfers::Timing timing) { return {queue, timing}; }
}  // namespace cpu

/// Which of some copies have set out.   @param numbers theirs; 0 of one that has not
template <std::size_t n> std::array<bool, n> set_out(const std::array<std::uint64_t, n>& numbers) {
  std::array<bool, n> which{};
  for (std::size_t i = 0; i < n; ++i) which[i] = numbers[i] > 0;
  return which;
}

/// What the device of a queue copies with.
template <class Queue> using TransfersOf = decltype(transfers(std::declval<Queue>(), Transfers::Timing::at_once));

}  // namespace monomorph
