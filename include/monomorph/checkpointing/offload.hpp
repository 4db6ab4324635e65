#pragma once
#include <monomorph/checkpointing/keep_all.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>

namespace monomorph::checkpointing {

/// Another policy, with what it keeps of the blocks moved to the host's memory after forward, and back before backward.
/// Two blocks' are on the device at a time: those that are used last in forward stay, as backward begins with them.
/// Some block's must move [ACT-05].
template <class Policy = KeepAll> struct Offload : Policy {
  static constexpr bool offloads(int /*block*/) { return true; }
};

}  // namespace monomorph::checkpointing
