#pragma once
#include <monomorph/runtime/comm/communicator.hpp>

#include <span>

namespace monomorph::train {

/// What one rank has, all have: of each number a rank has the bits, which all get, and the others have 0. All ranks
/// call this.
void share_numbers(Communicator& communicator, std::span<double> numbers);

}  // namespace monomorph::train
