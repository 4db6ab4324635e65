#include <monomorph/core/error.hpp>
#include <monomorph/data/interruption.hpp>

#include <signal.h>

#include <array>
#include <atomic>

namespace monomorph::data {
namespace {

constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use no other atomics");
std::array<struct sigaction, signals.size()> former_actions;

void remember_signal(int signal_number) { caught_signal.store(signal_number, std::memory_order_relaxed); }

}  // namespace

InterruptionGuard::InterruptionGuard() {
  caught_signal = 0;
  struct sigaction action {};
  action.sa_handler = remember_signal;
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &former_actions[i]);
}

InterruptionGuard::~InterruptionGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &former_actions[i], nullptr);
}

int interrupting_signal() noexcept { return caught_signal.load(std::memory_order_relaxed); }

void throw_if_interrupted() {
  if (interrupting_signal() != 0) throw Error("[DATA-11] interrupted; nothing was written");
}

}  // namespace monomorph::data
