#pragma once

namespace monomorph::train {

/// Runs this program once per rank on this machine, without its option --ranks, and waits for all. Threads are shared
/// out among them unless OMP_NUM_THREADS says how many each has. SIGINT and SIGTERM go on to the ranks; when one fails
/// the others, which notice by themselves, get some time to end and are then ended.
/// @return exit status of the first rank that failed, 1 if a signal ended it; 0 if none did
int run_local_ranks(int n, int argc, char** argv);

/// A rank that run_local_ranks started is asked to end when that process goes away.
void end_with_parent();

}  // namespace monomorph::train
