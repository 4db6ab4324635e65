#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <utility>

namespace monomorph::data {

/// @throws [TOK-03]
template <class... Arguments>
[[noreturn]] void throw_inconsistent(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw UsageError("TOK-03",
                   "the tokenizer contradicts itself: " + fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace monomorph::data
