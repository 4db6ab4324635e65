#pragma once

namespace monomorph {

/// Makes threads that compute sleep when they have waited for each other for a moment, unless GOMP_SPINCOUNT or
/// OMP_WAIT_POLICY is set; see docs/why/waiting_threads.md. OpenMP reads its variables when a program is loaded, so
/// this process executes its program once more from the beginning.   @param argv as main() had it
void sleep_after_spinning(char** argv);

}  // namespace monomorph
