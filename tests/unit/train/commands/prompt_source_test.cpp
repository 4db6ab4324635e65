#include "train/commands/prompt_source.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>

#include <vector>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;
using namespace std::string_literals;

namespace {

std::vector<PromptRecord> prompts_in(const std::string& lines) {
  const TemporaryFolder folder;
  write_bytes(folder / "prompts.jsonl", lines);
  PromptSource source(folder / "prompts.jsonl");
  std::vector<PromptRecord> prompts;
  while (auto prompt = source.next()) prompts.push_back(*std::move(prompt));
  return prompts;
}

}  // namespace

TEST_CASE("prompts come in their order, each with the id that its line gives") {
  const auto prompts =
      prompts_in("{\"prompt\": \"one\", \"id\": {\"b\": 1, \"a\": [2]}}\n{\"prompt\": \"zw\u00f6lf\"}\n");
  REQUIRE(prompts.size() == 2);
  CHECK(prompts[0].prompt == "one");
  CHECK(prompts[0].id.dump() == R"({"b":1,"a":[2]})");
  CHECK(prompts[1].prompt == "zw\u00f6lf");
  CHECK(prompts[1].id.is_null());
}

TEST_CASE("a line without a prompt is refused by its number, and by what makes it no JSON") {
  const auto refusal = [](const std::string& line) {
    return error_of([&] { prompts_in("{\"prompt\": \"first\"}\n" + line + "\n"); });
  };
  for (const std::string& line : {"[]"s, "{\"prompt\": 1}"s, "{\"text\": \"a\"}"s, ""s, "{\"prompt\": \"\xff\"}"s})
    CHECK(contains(refusal(line), "[RUN-30] line 2 of "));
  const std::string with_nul = refusal("{\"prompt\": \"a\"}\0{\"prompt\": \"b\"}"s);
  CHECK(contains(with_nul, "[RUN-30] line 2 of "));
  CHECK(contains(with_nul, "\"prompt\": there is a NUL byte (column 16); mend the line"));
  const std::string too_large = refusal("{\"prompt\": \"a\", \"id\": 1e400}");
  CHECK(contains(too_large, "[RUN-30] line 2 of "));
  CHECK(contains(too_large, "number overflow"));
  CHECK_THROWS_AS(prompts_in("{\"prompt\": \"a\", \"id\": 1e400}\n"), UsageError);
}
