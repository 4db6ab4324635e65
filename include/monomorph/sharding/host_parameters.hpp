#pragma once
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/rule/sharding_rules.hpp>

namespace monomorph::sharding {

/// Another strategy, with this rank's part of the parameters that compute reads in the host's memory (ZeRO-Infinity,
/// Rajbhandari et al. 2021, section 5.1.2). A unit's come to the device, and are gathered there, for each use, while
/// the unit before it computes.
template <class Strategy> struct HostParameters : Strategy {};  // not a policy: the gate says what it lacks
template <ShardingPolicy Strategy> struct HostParameters<Strategy> : Strategy {
  static constexpr MemorySpace parameter_space = MemorySpace::host;
  template <class R> using rules = decltype(exported_rules<Strategy, R>() + rule::HostParametersRules<Strategy, R>{});
};

}  // namespace monomorph::sharding
