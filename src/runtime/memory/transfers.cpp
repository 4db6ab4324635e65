#include <monomorph/runtime/memory/transfers.hpp>

#include <cstring>

namespace monomorph {

void Transfers::run_next() {
  Copy copy;
  {
    const std::lock_guard lock(mutex_);
    copy = copies_.take();
  }
  std::memcpy(copy.to.data, copy.from.data, copy.from.bytes());
}

std::uint64_t Transfers::start(View from, View to) {
  {
    const std::lock_guard lock(mutex_);
    copies_.push({from, to});
  }
  ++n_started_;
  if (timing_ == Timing::at_once) queue_.submit([this] { run_next(); });
  return n_started_;
}

void Transfers::wait(std::uint64_t number) {
  if (timing_ == Timing::at_once) return queue_.wait(number);
  for (; n_late_ < number; ++n_late_) run_next();
}

}  // namespace monomorph
