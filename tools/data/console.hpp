#pragma once
#include "progress_meter.hpp"

#include <monomorph/data/work/progress.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace monomorph::tools {

/// What a command says: lines for people on standard output or, with --json, one object; progress on standard error.
class Console {
 public:
  Console(std::string command, bool json);

  /// For the library to call while it works; the console must outlive its use.
  /// @param items what is counted; unless given, bytes
  data::ProgressCallback progress(const std::string& items = "");
  /// A line for people; nothing with --json.
  void say(std::string_view line);
  /// The object of --json, nothing without. To be called once, at the end; adds the command's name, its seconds so far
  /// and the peak of its memory.
  void summarise(const nlohmann::ordered_json& values);
  bool json() const noexcept { return json_; }

 private:
  std::string command_;
  bool json_;
  std::chrono::steady_clock::time_point began_;
  ProgressMeter meter_;
};

}  // namespace monomorph::tools
