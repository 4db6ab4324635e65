#pragma once

namespace monomorph::distributed {

/// Checks that the process can open so many more files and connections. If it cannot, c10d and Gloo report no error:
/// they log, try again, and wait until failure.rank_timeout is over or for ever.
/// @throws UsageError [RANK-23]
void check_free_descriptors(int needed);

// As counted on Linux, with some to spare: what is open for a moment is counted, too.

/// Of a run by itself: logs, metrics, and a checkpoint with its folder.
constexpr int run_descriptors = 6;
/// Of whoever serves the rendezvous: its event loop, and a connection to each rank.
constexpr int server_descriptors(int ranks) { return 14 + ranks; }
/// Descriptors that a rank's connections to the others take.
constexpr int peer_descriptors(int ranks) { return 6 + ranks; }

}  // namespace monomorph::distributed
