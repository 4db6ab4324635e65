#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph {

/// Makes something that needs much memory. What to do if the system refuses it depends on the command, which says so in
/// `hint`.
template <class Make> auto with_hint(const std::string& hint, Make make) {
  try {
    return make();
  } catch (const UsageError& error) {
    throw UsageError(error.id(), std::string(error.text()) + "; " + hint);
  }
}

}  // namespace monomorph
