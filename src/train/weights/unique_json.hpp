#pragma once
#include <monomorph/core/error.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace monomorph::train {

/// Of a JSON file the object, in which no key may come twice: a parser would keep one of the two unasked. Values that
/// lie far deeper than any of a model's are refused, as what walks through them recursively would run out of stack.
/// @throws UsageError with this id, it is none; as read_text_file
nlohmann::json read_unique_object(const std::string& path, ErrorId id);
/// The same of a file that is an array.
nlohmann::json read_unique_array(const std::string& path, ErrorId id);

}  // namespace monomorph::train
