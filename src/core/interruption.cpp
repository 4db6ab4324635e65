#include <monomorph/core/interruption.hpp>

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>

namespace monomorph {
namespace {

constexpr std::array<int, 4> signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::atomic<int> noted_signal{0};
using Clock = std::chrono::steady_clock;
std::atomic<Clock::rep> noted_at{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Clock::rep>::is_always_lock_free,
              "a signal handler may use no other atomics");
std::array<struct sigaction, signals.size()> former_actions;

/// What `nohup` starts is to go on when its terminal goes.
bool is_ignored_hangup(int signal_number) {
  struct sigaction action {};
  return signal_number == SIGHUP && ::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// The same request once more: what stops a service, a job or a terminal's processes signals all of them, and those
/// that start others pass it on. A person who presses Ctrl-C twice means it, but takes longer than that.
bool repeats(int signal_number, Clock::time_point now) {
  const Clock::duration since = now - Clock::time_point(Clock::duration(noted_at));
  return since < (signal_number == SIGINT ? InterruptionGuard::double_press : InterruptionGuard::moment);
}

void note_signal(int signal_number) {
  const auto now = Clock::now();  // clock_gettime, which a handler may call
  if (noted_signal == 0) {
    noted_at = now.time_since_epoch().count();
    noted_signal = signal_number;
  } else if (!repeats(signal_number, now)) {
    ::signal(signal_number, SIG_DFL);
    ::raise(signal_number);  // ends the process when this handler returns
  }
}

}  // namespace

InterruptionGuard::InterruptionGuard() {
  noted_signal = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = signals[i] == SIGPIPE || is_ignored_hangup(signals[i]) ? SIG_IGN : note_signal;
    ::sigaction(signals[i], &action, &former_actions[i]);
  }
}

InterruptionGuard::~InterruptionGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &former_actions[i], nullptr);
}

int interrupting_signal() noexcept { return noted_signal.load(std::memory_order_relaxed); }

}  // namespace monomorph
