#pragma once
#include "runtime/distributed/store.hpp"

namespace monomorph::distributed {

/// Brings the ranks of one start of a run together at a rendezvous that may have served earlier starts: torchrun's
/// stays open while ranks are started again and again, and neither its address nor TORCHELASTIC_RESTART_COUNT, which
/// each node counts for itself, tells one start from another.
/// @return a table of this start alone, once this rank (rank 0: every rank) has joined it
/// @throws Error [RANK-05] a rank did not come within the time limit; [RANK-14] the rendezvous has gone
Store rendezvous(Store store, int rank, int size, std::chrono::milliseconds time_limit);

}  // namespace monomorph::distributed
