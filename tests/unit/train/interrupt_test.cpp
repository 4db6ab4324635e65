#include "support/catch.hpp"

#include <monomorph/train/interrupt.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace {

using monomorph::train::InterruptGuard;

/// How a child that does this ends.
int status_of_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a first signal is noted, a second one ends the process") {
  for (const int number : {SIGINT, SIGTERM}) {
    const int noted = status_of_child([&] {
      const InterruptGuard guard;
      if (InterruptGuard::signal_received() != 0) return 1;
      std::raise(number);
      return InterruptGuard::signal_received() == number ? 0 : 2;
    });
    CHECK(WIFEXITED(noted));
    CHECK(WEXITSTATUS(noted) == 0);

    const int ended = status_of_child([&] {
      const InterruptGuard guard;
      std::raise(number);
      std::raise(number);
      return 0;
    });
    REQUIRE(WIFSIGNALED(ended));
    CHECK(WTERMSIG(ended) == number);
  }
}

TEST_CASE("a reader that goes away ends nothing while the guard lives") {
  CHECK(WIFEXITED(status_of_child([] {
    const InterruptGuard guard;
    std::raise(SIGPIPE);
    return InterruptGuard::signal_received();
  })));
}

TEST_CASE("after the guard, signals end the process again") {
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) {
    const int status = status_of_child([&] {
      { const InterruptGuard guard; }
      std::raise(number);
      return 0;
    });
    CHECK(WIFSIGNALED(status));
  }
}

TEST_CASE("a new guard forgets what the one before noted") {
  CHECK(WEXITSTATUS(status_of_child([] {
          {
            const InterruptGuard guard;
            std::raise(SIGINT);
          }
          const InterruptGuard guard;
          return InterruptGuard::signal_received();
        })) == 0);
}
