#pragma once
#include "data/text/code_point_set.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace monomorph::data::unicode {

// The sets that the parts of the `tokenizers` package use. They are of different versions of Unicode, as its parts are,
// and are kept here in full, so that ids do not depend on the libraries of a system.

/// A general category by its name in the standard: "L", "Lu", "Letter", "Uppercase_Letter", …; nothing if there is
/// none.
std::optional<CodePointSet> general_category(std::string_view name);

const CodePointSet& white_space();
/// Bytes of white space that a text begins with.
std::size_t leading_white_space(std::string_view text);
const CodePointSet& numeric();                ///< what the pre-tokenizer Digits cuts at
const CodePointSet& word();                   ///< \w of the pre-tokenizer Whitespace and of single words
const CodePointSet& pattern_word();           ///< \w of a Split's pattern
const CodePointSet& punctuation();            ///< what the pre-tokenizers Punctuation and Bert cut at
const CodePointSet& bert_control();           ///< what the Bert normalizer removes …
const CodePointSet& bert_accent();            ///< … and what it takes for accents
const CodePointSet& combining_mark();         ///< what StripAccents removes
const CodePointSet& unknown_to_normalizer();  ///< no normal form changes these, nor their neighbours through them

/// The lower case of a code point; of U+0130 the first of two, which U+0307 follows.
char32_t lower_case(char32_t code_point);

}  // namespace monomorph::data::unicode
