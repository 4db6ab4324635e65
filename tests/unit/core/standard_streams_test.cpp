// What is written while signals come, by a child whose standard output is a pipe that its reader leaves full.
#include "support/catch.hpp"

#include <monomorph/core/standard_streams.hpp>

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace {

/// Every 10 ms a signal interrupts what waits.
void interrupt_often() {
  struct sigaction noted {};
  noted.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &noted, nullptr);
  const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 10'000}, .it_value = {.tv_sec = 0, .tv_usec = 10'000}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

std::string read_slowly(int descriptor) {
  std::string text;
  std::array<char, 1 << 15> piece{};
  for (ssize_t n = 1; n > 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    n = ::read(descriptor, piece.data(), piece.size());
    if (n > 0) text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

TEST_CASE("a signal that comes while a reader is awaited neither ends nor repeats what is written") {
  std::string expected;
  for (int i = 0; expected.size() < 400'000; ++i) expected += std::to_string(i) + "\n";
  for (const std::size_t piece_bytes : {std::size_t{1000}, expected.size()}) {
    CAPTURE(piece_bytes);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    monomorph::flush_out();  // or the child would write what the test program has in its buffer
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      for (const int end : ends) ::close(end);
      interrupt_often();
      try {
        for (std::size_t at = 0; at < expected.size(); at += piece_bytes)
          monomorph::write_out(std::string_view(expected).substr(at, piece_bytes));
        monomorph::flush_out();
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    CHECK(read_slowly(ends[0]) == expected);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}
