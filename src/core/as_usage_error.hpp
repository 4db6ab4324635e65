#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph {

/// Opens a file that the user named. As nothing has been started yet, every Error becomes a UsageError, but for a disk
/// that is full and a file that would be too large, of which the command line is no cause.
/// @param field what names the file, for the message
template <class Open> auto as_usage_error(const std::string& field, Open open) {
  try {
    return open();
  } catch (const Error& error) {
    if (error.id() == "FILE-02" || error.id() == "FILE-06") throw;
    throw UsageError(error.id(), std::string(error.text()) + " (" + field + ")");
  }
}

}  // namespace monomorph
