#include "train/commands/prompt_source.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::train {

PromptSource::PromptSource(const std::string& path, const char* key, ErrorId id)
    : lines_(path == "-" ? "/dev/stdin" : path), key_(key), id_(id) {}

std::optional<PromptRecord> PromptSource::next() {
  using nlohmann::ordered_json;
  const auto line = lines_.next();
  if (!line) return std::nullopt;
  const ordered_json record = parsed_ordered_json(line->text);
  const auto prompt = record.is_object() ? record.find(key_) : record.end();
  if (!record.is_object() || prompt == record.end() || !prompt->is_string())
    throw UsageError(id_, fmt::format("line {} of {} is no JSON object with a text as \"{}\"{}; mend the line",
                                      line->number, in_quotes(lines_.path()), key_,
                                      record.is_discarded() ? ": " + json_mistake(line->text) : ""));
  return PromptRecord{prompt->get<std::string>(), record.value("id", ordered_json())};
}

}  // namespace monomorph::train
