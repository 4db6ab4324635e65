#include <monomorph/core/process_setup.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <optional>

namespace monomorph {
namespace {

/// A file that is opened while one of these is closed would get its number, and receive what is written there. What
/// takes the place of standard output cannot be written to either: results that go nowhere are no success.
void open_standard_files() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0)  // then it is the lowest that is free
      ::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

constexpr rlim_t least_stack = rlim_t{2} << 20;  // what threads have where nothing limits them

/// Bytes that a variable as "512", "512k" or " 1 M " gives to OpenMP's threads (OpenMP 5.2, section 21.2.7): KiB unless
/// it says another unit. Absent for what OpenMP does not understand either, and ignores.
std::optional<double> stack_size(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text) return std::nullopt;
  while (std::isspace(static_cast<unsigned char>(*end)) != 0) ++end;
  switch (std::toupper(static_cast<unsigned char>(*end))) {
    case 'B':
      return number;
    case 'K':
    case '\0':
      return number * 1024;
    case 'M':
      return number * 1024 * 1024;
    case 'G':
      return number * 1024 * 1024 * 1024;
    default:
      return std::nullopt;
  }
}

/// They have been read by now, and hold for OpenMP's threads whatever is done here.
void check_stack_variables() {
  for (const char* const name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const char* const text = std::getenv(name);
    const auto size = text == nullptr ? std::nullopt : stack_size(text);
    if (size && *size < static_cast<double>(least_stack))
      throw UsageError("LIMIT-01",
                       fmt::format("the environment variable {} must allow the stack {}, and is {}; raise or "
                                   "unset it",
                                   name, format_bytes(least_stack), in_quotes(text)));
  }
}

/// Attention keeps its tiles on the stack of the thread that computes them, almost 1 MiB. A lower soft limit is raised
/// for this thread, which grows as far as it now allows, and for those that begin later, which would have what was the
/// limit when the program began.
void provide_stack() {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least_stack) return;
  if (stack.rlim_max < least_stack)
    throw UsageError("LIMIT-01",
                     fmt::format("the stack must be allowed {}, and its hard limit is {}; raise it (ulimit -s)",
                                 format_bytes(least_stack), format_bytes(static_cast<std::int64_t>(stack.rlim_max))));
  stack.rlim_cur = least_stack;
  ::setrlimit(RLIMIT_STACK, &stack);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, least_stack);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace

void set_up_process() {
  open_standard_files();
  ::signal(SIGXFSZ, SIG_IGN);
  check_stack_variables();
  provide_stack();
}

}  // namespace monomorph
