#include "support/catch.hpp"

#include <monomorph/core/interruption.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

namespace {

using monomorph::InterruptionGuard, monomorph::interrupting_signal;

/// How a child that does this ends.
int status_of_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a first signal is noted, a second one ends the process") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int noted = status_of_child([&] {
      const InterruptionGuard guard;
      if (interrupting_signal() != 0) return 1;
      std::raise(number);
      return interrupting_signal() == number ? 0 : 2;
    });
    CHECK(WIFEXITED(noted));
    CHECK(WEXITSTATUS(noted) == 0);

    const int ended = status_of_child([&] {
      const InterruptionGuard guard;
      std::raise(number);
      std::this_thread::sleep_for(number == SIGINT ? InterruptionGuard::double_press : InterruptionGuard::moment);
      std::raise(number);
      return 0;
    });
    REQUIRE(WIFSIGNALED(ended));
    CHECK(WTERMSIG(ended) == number);
  }
}

TEST_CASE("a hangup means nothing to what nohup started") {
  CHECK(status_of_child([] {
          std::signal(SIGHUP, SIG_IGN);
          const InterruptionGuard guard;
          for (int i = 0; i < 3; ++i) std::raise(SIGHUP);
          return interrupting_signal();
        }) == 0);
}

TEST_CASE("a signal that follows the first one at once is the same request") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    for (const int then : {SIGINT, SIGTERM, SIGHUP})
      CHECK(status_of_child([&] {
              const InterruptionGuard guard;
              std::raise(number);
              for (int i = 0; i < 3; ++i) std::raise(then);
              return interrupting_signal() == number ? 0 : 1;
            }) == 0);
}

TEST_CASE("a reader that goes away ends nothing while the guard lives") {
  CHECK(WIFEXITED(status_of_child([] {
    const InterruptionGuard guard;
    std::raise(SIGPIPE);
    return interrupting_signal();
  })));
}

TEST_CASE("after the guard, signals end the process again") {
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) {
    const int status = status_of_child([&] {
      { const InterruptionGuard guard; }
      std::raise(number);
      return 0;
    });
    CHECK(WIFSIGNALED(status));
  }
}

TEST_CASE("a new guard forgets what the one before noted") {
  CHECK(WEXITSTATUS(status_of_child([] {
          {
            const InterruptionGuard guard;
            std::raise(SIGINT);
          }
          const InterruptionGuard guard;
          return interrupting_signal();
        })) == 0);
}
