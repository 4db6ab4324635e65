#pragma once
#include <monomorph/core/interruption.hpp>

namespace monomorph::data {

/// @throws [DATA-11] after a signal that an InterruptionGuard noted
void throw_if_interrupted();

}  // namespace monomorph::data
