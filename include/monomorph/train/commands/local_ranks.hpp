#pragma once

namespace monomorph::train {

/// Starts this program once per rank on this machine, without its option --ranks, and waits until all have ended. The
/// cores are divided among the ranks unless OMP_NUM_THREADS says how many threads each has. SIGINT and SIGTERM are
/// forwarded to the ranks. When a rank fails, the others notice by themselves and have some time to end before they are
/// killed.
/// @return exit status of the first rank that failed, 1 if a signal ended it; 0 if none did
int run_local_ranks(int n, int argc, char** argv);

/// Called by a rank that run_local_ranks started: it will receive SIGTERM when that process ends.
void end_with_parent();

}  // namespace monomorph::train
