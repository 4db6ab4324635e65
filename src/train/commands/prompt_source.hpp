#pragma once
#include <monomorph/data/records/input_file.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// A prompt of a file of JSON Lines.
struct PromptRecord {
  std::string prompt;
  nlohmann::ordered_json id;  ///< what the line says as "id", for whoever reads the texts; null if nothing
};

/// Prompts of a file of JSON Lines in their order: objects with a text as "prompt".
class PromptSource {
 public:
  /// @param path a file, or - for standard input   @throws [FILE-NN]
  explicit PromptSource(const std::string& path);
  /// Nothing at the end.   @throws UsageError [RUN-30] a line is no such object
  std::optional<PromptRecord> next();

 private:
  data::LineReader lines_;
};

}  // namespace monomorph::train
