#include <monomorph/core/process_setup.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

namespace monomorph {
namespace {

/// A file that is opened while one of these is closed would get its number, and receive what is written there. What
/// takes the place of standard output cannot be written to either: results that go nowhere are no success.
void open_standard_files() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0)  // then it is the lowest that is free
      ::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/// Attention keeps its tiles on the stack of the thread that computes them, almost 1 MiB. A lower soft limit is raised
/// for this thread, which grows as far as it now allows, and for those that begin later, which would have what was the
/// limit when the program began.
void provide_stack() {
  constexpr rlim_t least = rlim_t{2} << 20;  // what threads have where nothing limits them
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least) return;
  if (stack.rlim_max < least)
    throw UsageError(
        fmt::format("[LIMIT-01] the stack must be allowed {}, and its hard limit is {}; raise it (ulimit -s)",
                    format_bytes(least), format_bytes(static_cast<std::int64_t>(stack.rlim_max))));
  stack.rlim_cur = least;
  ::setrlimit(RLIMIT_STACK, &stack);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, least);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace

void set_up_process() {
  open_standard_files();
  ::signal(SIGXFSZ, SIG_IGN);
  provide_stack();
}

}  // namespace monomorph
