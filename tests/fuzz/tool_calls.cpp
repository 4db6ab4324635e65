// Calls of tools in what a model writes: they are the same however the answer is cut into pieces, and so is the text
// around them; a call is of a tool that there is, with an object of arguments. The first byte says how long pieces are.
#include "train/inference/tool_calls.hpp"

#include <nlohmann/json.hpp>

#include "harness.hpp"

using namespace monomorph;
using train::ToolCallFinder;

namespace {

const std::set<std::string> names{"f", "get_weather"};

ToolCallFinder::Found found_in(std::string_view answer, std::size_t piece) {
  ToolCallFinder finder(names);
  ToolCallFinder::Found found;
  for (; !answer.empty(); answer.remove_prefix(std::min(piece, answer.size())))
    found += finder.push(answer.substr(0, piece));
  found += finder.finish();
  return found;
}

/// The parser refuses numbers beyond fp64, which a model may write all the same.
bool is_object(const std::string& text) {
  try {
    return nlohmann::json::parse(text).is_object();
  } catch (const nlohmann::json::out_of_range&) {
    return text.starts_with('{') && text.ends_with('}');
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view answer = fuzz::as_text(data + 1, size - 1);
  const ToolCallFinder::Found whole = found_in(answer, answer.size()), pieces = found_in(answer, data[0] % 16 + 1);
  fuzz::require(pieces.text == whole.text, "the text does not depend on pieces");
  fuzz::require(pieces.calls.size() == whole.calls.size(), "the number of calls does not depend on pieces");
  fuzz::require(whole.text.size() <= answer.size(), "no text is made");
  for (std::size_t i = 0; i < whole.calls.size(); ++i) {
    const train::ToolCall &one = whole.calls[i], &other = pieces.calls[i];
    fuzz::require(one.name == other.name && one.arguments == other.arguments, "calls do not depend on pieces");
    fuzz::require(names.contains(one.name), "a call is of a tool that there is");
    fuzz::require(is_object(one.arguments), "arguments are an object");
  }
  return 0;
}
