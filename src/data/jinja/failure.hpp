#pragma once
#include <monomorph/core/error_id.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>

namespace monomorph::data::jinja {

/// What went wrong while a template was rendered; Template adds its name and the line.
struct Failure {
  ErrorId id;
  std::string what;
};

/// As Python or Jinja would raise an exception.
template <class... Parts> [[noreturn]] void fail(fmt::format_string<Parts...> form, Parts&&... parts) {
  throw Failure{"JINJA-02", fmt::format(form, std::forward<Parts>(parts)...)};
}

}  // namespace monomorph::data::jinja
