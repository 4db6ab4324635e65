#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <string>
#include <vector>

namespace monomorph::train {

/// What becomes of a name that the tokeniser lacks.
enum class UnknownNames { refused, passed_over };

/// The tokens that a JSON file beside a tokeniser names by a key: by ids, by texts, by objects that have the text as
/// their content, or by a list of these. None if there is no such file or key, or if it is null.
/// @throws UsageError [RUN-29] the file is broken, or names a token that the tokeniser lacks; [FILE-NN]
std::vector<std::int32_t> named_ids(const data::Tokenizer& tokenizer, const std::string& path, const std::string& key,
                                    UnknownNames unknown = UnknownNames::refused);

}  // namespace monomorph::train
