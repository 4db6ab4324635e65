// JSON Lines: a record whose text can be taken is a line that the index accepts, and the text is UTF-8.
#include "data/records/json_line_parser.hpp"
#include "data/records/line_block.hpp"

#include <monomorph/data/text/utf8.hpp>

#include "memory_file.hpp"

#include <cstdlib>

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  const data::FieldPointer field("/text");
  data::LineBlockReader reader(file.path());
  data::JsonLineParser parser;
  data::LineBlock block;
  while (reader.next(block)) {
    data::for_each_line(block, [&](std::string_view line, std::uint64_t) {
      const bool is_json = !std::holds_alternative<data::LineProblem>(parser.check(line));
      const auto text = parser.text_at(block.writable(line), field);
      if (const auto* value = std::get_if<std::string_view>(&text)) {
        if (data::valid_utf8_prefix(*value) != value->size()) std::abort();
        if (!is_json) std::abort();
      }
      return true;
    });
  }
  return 0;
}
