#include <monomorph/core/interruptible_main.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <csignal>

namespace monomorph {

int interruptible_main(int (*run)(int argc, char** argv), int argc, char** argv) {
  int exit_code = 0;
  {
    const InterruptionGuard interruption;
    const TruncationGuard truncation;
    exit_code = run(argc, argv);
  }
  // What asked us to stop learns from the exit status that we did.
  if (exit_code != 0 && interrupting_signal() != 0) std::raise(interrupting_signal());
  return exit_code;
}

}  // namespace monomorph
