#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph::train {

/// Makes something that needs much memory. What to do if the system refuses it depends on the command, which says so in
/// `advice`.
template <class Make> auto with_advice(const std::string& advice, Make make) {
  try {
    return make();
  } catch (const UsageError& error) {
    throw UsageError(error.what() + ("; " + advice));
  }
}

}  // namespace monomorph::train
