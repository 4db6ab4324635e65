#include <monomorph/runtime/machine/background_queue.hpp>
#include <monomorph/runtime/machine/pending.hpp>
#include <monomorph/runtime/memory/transfers.hpp>

#include <cstring>

namespace monomorph {

struct Transfers::Copies {
  explicit Copies(Timing when) : timing(when) {}

  struct Copy {
    View from, to;
  };
  void run_next() {
    Copy copy;
    {
      const std::lock_guard lock(mutex);
      copy = pending.take();
    }
    std::memcpy(copy.to.data, copy.from.data, copy.from.bytes());
  }

  Timing timing;
  Pending<Copy> pending;
  std::uint64_t n_started = 0, n_late = 0;
  std::mutex mutex;
  BackgroundQueue queue;  // last: its thread uses the members above
};

Transfers::Transfers(Timing timing) : copies_(make_owned<Copies>(timing)) {}
Transfers::~Transfers() = default;

std::uint64_t Transfers::start(View from, View to) {
  {
    const std::lock_guard lock(copies_->mutex);
    copies_->pending.push({from, to});
  }
  if (copies_->timing == Timing::at_once) copies_->queue.submit([this] { copies_->run_next(); });
  return ++copies_->n_started;
}

void Transfers::wait(std::uint64_t number) {
  if (copies_->timing == Timing::at_once) return copies_->queue.wait(number);
  for (; copies_->n_late < number; ++copies_->n_late) copies_->run_next();
}

void Transfers::wait_for_all() { wait(copies_->n_started); }

}  // namespace monomorph
