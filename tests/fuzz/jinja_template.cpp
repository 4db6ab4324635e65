// Chat templates in Jinja: whatever one says, rendering it ends soon and within its limits, and marks lie in its text.
#include <monomorph/data/jinja/template.hpp>

#include "harness.hpp"

using namespace monomorph;
using data::jinja::Value;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    const data::jinja::Template chat(std::string(fuzz::as_text(data, size)), "fuzzed");
    const Value message = Value::dict({{"role", "user"}, {"content", " One <b>\n\xc3\xa9 "}, {"n", std::int64_t{3}}});
    const auto rendered = chat.render({{"messages", Value::list({message, message})},
                                       {"bos_token", "<s>"},
                                       {"tools", Value()},
                                       {"x", 2.5},
                                       {"add_generation_prompt", true}},
                                      {.steps = 200'000, .bytes = 4'000'000});
    fuzz::require(rendered.text.size() <= 4'000'000, "a text is no longer than its limit");
    for (const auto& [begin, end] : rendered.generated) fuzz::require(begin <= end, "what is marked has a length");
  });
}
