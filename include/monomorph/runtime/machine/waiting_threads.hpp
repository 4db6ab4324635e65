#pragma once

namespace monomorph {

/// Has the threads that compute sleep after waiting for each other a moment, where nothing else is said by
/// GOMP_SPINCOUNT or OMP_WAIT_POLICY; see docs/why/waiting_threads.md. OpenMP reads that when a program is loaded, so
/// this one is started again, once, in its own place.   @param argv as main() had it
void sleep_after_spinning(char** argv);

}  // namespace monomorph
