#pragma once
#include <cstdint>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::train {

/// Ends this process, in which threads and messages still wait for a rank that does not come, with one line: what this
/// rank was doing at which moment ("in step 7"), and which ranks have not said that they give up, too.
[[noreturn]] void give_up(const World& world, const RankFailure& failure, const std::string& moment);

}  // namespace monomorph::train
