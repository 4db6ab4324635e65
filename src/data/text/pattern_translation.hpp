#pragma once
#include <string>
#include <string_view>

namespace monomorph::data {

/// A regular expression in Oniguruma's language written for PCRE2, with sets of characters by our own tables.
/// @throws [TOK-10] it is none; [TOK-02] it uses what is not supported, by name
std::string translate_pattern(std::string_view pattern);

}  // namespace monomorph::data
