#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph::train {

/// Opens what the user named. Whatever is wrong with it, nothing has been started: every Error becomes one of usage.
/// @param field what names it, to be said in the message
template <class Open> auto before_start(const std::string& field, Open open) {
  try {
    return open();
  } catch (const Error& error) {
    throw UsageError(std::string(error.what()) + " (" + field + ")");
  }
}

}  // namespace monomorph::train
