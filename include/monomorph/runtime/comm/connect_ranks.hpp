#pragma once
#include <cstdint>
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/owned.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <type_traits>

namespace monomorph {

class World;
struct RankGroup;

/// What ranks that are to have a communicator agree on.
struct CommunicatorSpec {
  int shards = 1;              ///< ranks that hold one copy of the parameters together: a divisor of the group's size
  DType wire = DType::fp32;    ///< in which gradients travel between ranks
  bool in_fixed_tree = false;  ///< gradients are added up in the order of the ranks, in pairs of neighbours
};

namespace detail {
/// @throws Error [RANK-10]
Owned<Communicator> connect_on_host(const World& world, const RankGroup& data, const CommunicatorSpec& spec);
}  // namespace detail

/// The communicator of data-parallel ranks, one of the groups into which a world falls, for what lies in the memory of
/// a queue's device: what the device has itself, under the name `connect`, or else that of the machine's memory. All
/// ranks call it, each for its own group.
template <class Queue>
Owned<Communicator> connect_ranks(const World& world, const RankGroup& data, const CommunicatorSpec& spec) {
  constexpr std::type_identity<Queue> of;  // not a queue: the rank's device is not chosen yet
  if constexpr (requires { connect(of, world, data, spec); })
    return connect(of, world, data, spec);
  else
    return detail::connect_on_host(world, data, spec);
}

}  // namespace monomorph
