#include "train/commands/prompt_source.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::train {

PromptSource::PromptSource(const std::string& path) : lines_(path == "-" ? "/dev/stdin" : path) {}

std::optional<PromptRecord> PromptSource::next() {
  using nlohmann::ordered_json;
  const auto line = lines_.next();
  if (!line) return std::nullopt;
  const ordered_json record = ordered_json::parse(line->text, nullptr, false);
  const auto prompt = record.is_object() ? record.find("prompt") : record.end();
  if (!record.is_object() || prompt == record.end() || !prompt->is_string())
    throw UsageError("RUN-30", fmt::format("line {} of {} is no JSON object with a text as \"prompt\"; mend the line",
                                           line->number, in_quotes(lines_.path())));
  return PromptRecord{prompt->get<std::string>(), record.value("id", ordered_json())};
}

}  // namespace monomorph::train
