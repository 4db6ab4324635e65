#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph {

/// Opens a file that the user named. As nothing has been started yet, every Error becomes a UsageError.
/// @param field what names the file, for the message
template <class Open> auto as_usage_error(const std::string& field, Open open) {
  try {
    return open();
  } catch (const Error& error) {
    throw UsageError(error.id(), std::string(error.text()) + " (" + field + ")");
  }
}

}  // namespace monomorph
