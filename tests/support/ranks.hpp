#pragma once
#include <monomorph/runtime/comm/world.hpp>

#include <functional>

namespace monomorph::testing {

/// Calls f(world) on as many threads as there are ranks, which meet in this process and exchange messages as processes
/// do. Returns when all have returned; what the first rank that failed has thrown is thrown again.
void with_ranks(int size, const std::function<void(const World&)>& f);

}  // namespace monomorph::testing
