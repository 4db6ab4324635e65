#pragma once
#include <cstdint>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::train {

/// Ends this process, in which threads and messages still wait for a rank that has failed. One line says what this rank
/// was doing, at which moment ("in step 7"), and which ranks have not reported that they end, too.
[[noreturn]] void exit_on_peer_failure(const World& world, const RankFailure& failure, const std::string& moment);

}  // namespace monomorph::train
