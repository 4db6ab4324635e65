#pragma once
#include "runtime/machine/libtorch.hpp"

namespace monomorph::libtorch {

/// As Library::connect.
std::unique_ptr<Connections> connect_by_gloo(const Store& store, int rank, int size, const Network& network,
                                             std::chrono::milliseconds time_limit);

}  // namespace monomorph::libtorch
