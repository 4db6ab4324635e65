#pragma once
#include "data/records/text_lines.hpp"

#include <monomorph/core/error_id.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// A prompt of a file.
struct PromptRecord {
  std::string prompt;
  nlohmann::ordered_json id;  ///< what the line says as "id", for whoever reads the texts; null if nothing
};

/// Prompts of a file of JSON Lines, compressed or not, or of Parquet, in their order: objects with a text as "prompt",
/// or under another key.
class PromptSource {
 public:
  /// @param path a file, or - for standard input   @param id of the message of a line that is no such object
  /// @throws as data::TextInput
  explicit PromptSource(const std::string& path, const char* key = "prompt", ErrorId id = "RUN-30");
  /// Nothing at the end.   @throws UsageError a line is no such object; as data::TextInput::read_some
  std::optional<PromptRecord> next();

 private:
  data::TextLines lines_;
  const char* key_;
  ErrorId id_;
};

}  // namespace monomorph::train
