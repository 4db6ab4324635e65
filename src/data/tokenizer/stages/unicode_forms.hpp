#pragma once
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <string>

namespace monomorph::data {

/// Brings valid UTF-8 into one of Unicode's normal forms, as far as the `tokenizers` package knows the characters.
void to_unicode_form(normalizers::UnicodeForm form, std::string& text);

}  // namespace monomorph::data
