#include <monomorph/train/interrupt.hpp>

#include <csignal>
#include <initializer_list>

namespace monomorph::train {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void note_signal(int number) {
  received = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, note_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
}

int InterruptGuard::signal_received() { return received; }

}  // namespace monomorph::train
