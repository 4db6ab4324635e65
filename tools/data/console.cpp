#include "console.hpp"

#include <monomorph/core/process_memory.hpp>
#include <monomorph/core/standard_streams.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace monomorph::tools {

Console::Console(std::string command, bool json)
    : command_(std::move(command)),
      json_(json),
      began_(std::chrono::steady_clock::now()),
      meter_(STDERR_FILENO, command_) {}

data::ProgressCallback Console::progress(const std::string& items) {
  return [this, items](std::uint64_t done, std::uint64_t total) { meter_.update(done, total, items); };
}

void Console::say(std::string_view line) {
  meter_.erase();
  if (!json_) write_out(std::string(line) + "\n");
}

void Console::summarise(const nlohmann::ordered_json& values) {
  meter_.erase();
  if (!json_) return;
  nlohmann::ordered_json object{{"command", command_}};
  object.update(values);
  object["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  object["peak_memory_bytes"] = peak_resident_bytes();
  // Paths need not be UTF-8.
  write_out(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace monomorph::tools
