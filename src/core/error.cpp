#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph {

Error::Error(ErrorId id, std::string_view text, ExitCode code)
    : std::runtime_error(fmt::format("[{}] {}", id.text(), text)), id_(id), code_(code) {}

std::string_view Error::text() const noexcept {
  return std::string_view(what()).substr(id_.text().size() + std::string_view("[] ").size());
}

UsageError::UsageError(ErrorId id, std::string_view text) : Error(id, text, ExitCode::usage) {}

}  // namespace monomorph
