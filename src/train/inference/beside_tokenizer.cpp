#include "train/inference/beside_tokenizer.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::train {

nlohmann::json object_beside_tokenizer(const std::string& path) {
  const std::string text = read_text_file(path);
  nlohmann::json file = parsed_json(text);
  if (file.is_discarded()) refuse_beside_tokenizer(path, "is no JSON object: " + json_mistake(text));
  if (!file.is_object()) refuse_beside_tokenizer(path, "is no JSON object");
  return file;
}

void refuse_beside_tokenizer(const std::string& path, const std::string& what) {
  throw UsageError("RUN-29", fmt::format("{} {}; mend it, or take it away", in_quotes(path), what));
}

}  // namespace monomorph::train
