#pragma once
#include <string>

namespace monomorph::testing {

/// Of this machine: nobody listens there at the moment.
std::string free_port();

}  // namespace monomorph::testing
