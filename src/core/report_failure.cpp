#include <monomorph/core/report_failure.hpp>

#include <monomorph/core/error.hpp>

#include <cstdio>
#include <string_view>

namespace monomorph {
namespace {

void say(const char* beginning, std::string_view line) noexcept {
  std::fprintf(stderr, "%s%.*s\n", beginning, static_cast<int>(line.size()), line.data());
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

int report_failure(const std::exception& failure) noexcept {
  const auto* const error = dynamic_cast<const Error*>(&failure);
  std::string_view rest = failure.what();
  if (error == nullptr) {
    say("error: [RUN-00] an unexpected failure: ", first_line(rest));
    return static_cast<int>(ExitCode::failure);
  }
  for (std::string_view line = first_line(rest); !rest.empty(); line = first_line(rest)) {
    say("error: ", line);
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : rest.size());
  }
  return static_cast<int>(error->code());
}

}  // namespace monomorph
