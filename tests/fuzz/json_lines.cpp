// JSON Lines: a record whose text can be taken is a line that the index accepts.
#include <monomorph/data/json_lines.hpp>

#include "memory_file.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  const data::TextField field("/text");
  data::LineReader lines(file.path());
  while (const auto line = lines.next()) {
    fuzz::refusing([&] {
      field.of(*line, "F.jsonl");
      data::check_json_line(*line, "F.jsonl");  // must not refuse what the line above took
    });
  }
  return 0;
}
