#include <monomorph/core/interruption.hpp>

#include <signal.h>

#include <array>
#include <atomic>

namespace monomorph {
namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGPIPE};
std::atomic<int> noted_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use no other atomics");
std::array<struct sigaction, signals.size()> former_actions;

void note_signal(int signal_number) { noted_signal.store(signal_number, std::memory_order_relaxed); }

}  // namespace

InterruptionGuard::InterruptionGuard() {
  noted_signal = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = signals[i] == SIGPIPE ? SIG_IGN : note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one meets the default
    ::sigaction(signals[i], &action, &former_actions[i]);
  }
}

InterruptionGuard::~InterruptionGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &former_actions[i], nullptr);
}

int interrupting_signal() noexcept { return noted_signal.load(std::memory_order_relaxed); }

}  // namespace monomorph
