#include <monomorph/runtime/comm/queued_communicator.hpp>

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph {

void detail::refuse_several_ranks(int ranks) {
  throw UsageError("RANK-25", fmt::format("this program's device must have one rank, as it has no collectives, and "
                                          "here are {}; start it with one, or take the recipe's program for CPUs",
                                          ranks));
}

}  // namespace monomorph
