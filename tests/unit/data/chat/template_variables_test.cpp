#include "unit/data/data_test_support.hpp"

#include <monomorph/data/chat/template_choice.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

using namespace monomorph;
using namespace monomorph::data;

namespace {

const std::string fixtures = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/jinja/";

TemplateVariables given(std::string_view json) { return template_variables_of(json, "--template-kwargs"); }

std::string rendered(const ModelTemplate& of_model, const TemplateVariables& more = {}) {
  using jinja::Value;
  const Value question = Value::dict({{"role", "user"}, {"content", " How are\nyou, Zoë? "}});
  return of_model.render(Value::list({question}), {}, true, 0, {}, more).text;
}

/// What transformers renders of one question, by the fixture.
std::string expected(const std::string& file, const std::string& conversation) {
  std::istringstream lines(read_text_file(fixtures + "expected.jsonl"));
  for (std::string text; std::getline(lines, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line["template"] == file && line["conversation"] == conversation && line["prompt"] == true) return line["text"];
  }
  return "(no such line)";
}

}  // namespace

TEST_CASE("variables of a template are what transformers is given besides the chat") {
  for (const std::string file : {"qwen3.jinja", "smollm3.jinja"}) {
    CAPTURE(file);
    const TemplateChoice off = TemplateChoice::named(fixtures + "templates/" + file,
                                                     given(R"({"enable_thinking": false})")),
                         usual = TemplateChoice::named(fixtures + "templates/" + file);
    if (file == "qwen3.jinja") {
      CHECK(rendered(*off.of_model()) == expected(file, "thinking off"));
      CHECK(rendered(*usual.of_model()) == expected(file, "question"));
      CHECK(rendered(*usual.of_model(), given(R"({"enable_thinking": false})")) == expected(file, "thinking off"));
      CHECK(rendered(*off.of_model(), given(R"({"enable_thinking": true})")) == expected(file, "question"));
    }
    CHECK(rendered(*off.of_model()) != rendered(*usual.of_model()));
    CHECK(off.fingerprint() != usual.fingerprint());
  }
}

TEST_CASE("a variable may be any value, and stands in the place of a token of the same name") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("chat_template.jinja", "{{ bos_token }}{{ a.b[1] if a }}{{ c }}{{ messages|length }}");
  folder.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  CHECK(rendered(*TemplateChoice::named(path).of_model()) == "<s>1");
  CHECK(rendered(*TemplateChoice::named(path, given(R"({"a": {"b": [1, "x"]}, "c": 2.5})")).of_model()) == "<s>x2.51");
  const Tokenizer tokenizer(read_tokenizer_definition(tokenizer_fixture("llama3.json")));
  const auto usual = TemplateChoice::usual(tokenizer, folder.path(), given(R"({"bos_token": "!", "c": true})"));
  const ModelTemplate& set = *usual.value().of_model();
  CHECK(rendered(set) == "!True1");
  CHECK(rendered(set, given(R"({"c": null})")) == "!None1");
}

TEST_CASE("variables that are no object, or that the chat itself gives, are refused in one line") {
  for (const char* const text : {"", "{", "[]", "5", "\"enable_thinking\"", "{\"a\": 1e999}"}) {
    CAPTURE(text);
    const std::string message = error_of([&] { given(text); });
    CHECK(message.starts_with("[CHAT-20] --template-kwargs is no JSON object"));
    CHECK(message.find('\n') == std::string::npos);
  }
  for (const std::string name : {"messages", "tools", "documents", "add_generation_prompt"})
    CHECK(error_of([&] {
            given("{\"" + name + "\": 1}");
          }).starts_with("[CHAT-20] --template-kwargs has \"" + name + "\", which the chat itself gives"));
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += (i > 0 ? ", \"v" : "\"v") + std::to_string(i) + "\": 1";
  CHECK(error_of([&] { given(many + "}"); }).starts_with("[CHAT-20] --template-kwargs has more than 64 members"));
  CHECK(error_of([] { given("{\"a\": " + std::string(400, '[') + std::string(400, ']') + "}"); }).starts_with("["));
  CHECK(error_of([] {
          TemplateChoice::named("chatml", given(R"({"enable_thinking": false})"));
        }).starts_with("[CHAT-21] the chat template chatml has no variables, and \"enable_thinking\" is to be one"));
}
