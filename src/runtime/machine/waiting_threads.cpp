#include <monomorph/runtime/machine/parallel.hpp>
#include <monomorph/runtime/machine/waiting_threads.hpp>

#include <unistd.h>
#include <cstdlib>

namespace monomorph {

void sleep_after_spinning(char** argv) {
  constexpr const char* spins = "4000";  // about 0.2 ms: longer than a thread waits for another that is at work
  if (compute_threads() == 1 || std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr)
    return;
  setenv("GOMP_SPINCOUNT", spins, 0);
  execv("/proc/self/exe", argv);  // where it can't be, all is as it was
}

}  // namespace monomorph
