#include "unit/data/data_test_support.hpp"

#include <monomorph/data/chat/model_template.hpp>

using monomorph::data::ModelTemplate;
using monomorph::data::jinja::Value;

namespace {

std::string said(const ModelTemplate& chat_template, const Value& tools = {}) {
  const Value message = Value::dict({{"role", "user"}, {"content", "hi"}});
  return chat_template.render(Value::list({message}), tools, true).text;
}

}  // namespace

TEST_CASE("A model's chat template is found among its files, with the tokens that it names") {
  const TemporaryFolder folder;
  CHECK_FALSE(ModelTemplate::of_folder(folder / ".").has_value());
  monomorph::testing::write_bytes(
      folder / "tokenizer_config.json",
      R"({"bos_token": {"content": "<s>", "special": true}, "eos_token": "</s>", "pad_token": null,
                 "chat_template": "1 {{ bos_token }}{{ messages[0].content }}{{ eos_token }}"})");
  CHECK(said(*ModelTemplate::of_folder(folder / ".")) == "1 <s>hi</s>");
  monomorph::testing::write_bytes(folder / "chat_template.json", R"({"chat_template": "2 {{ bos_token }}"})");
  CHECK(said(*ModelTemplate::of_folder(folder / ".")) == "2 <s>");
  monomorph::testing::write_bytes(folder / "chat_template.jinja", "3 {{ bos_token }}{{ add_generation_prompt }}\n");
  CHECK(said(*ModelTemplate::of_folder(folder / ".")) == "3 <s>True");
  CHECK(said(ModelTemplate::of_file(folder / "chat_template.json")) == "2 <s>");
  CHECK(said(ModelTemplate::of_file(folder / "chat_template.jinja")) == "3 <s>True");
}

TEST_CASE("The templates of a folder are given as they stand, also those that could not be rendered") {
  using Sources = std::map<std::string, std::string>;
  const TemporaryFolder folder;
  CHECK(monomorph::data::chat_template_sources(folder / ".").empty());
  monomorph::testing::write_bytes(folder / "tokenizer_config.json",
                                  R"({"chat_template": [{"name": "default", "template": "{% unknown %}"},
                                                        {"name": "rag", "template": "é"}]})");
  CHECK(monomorph::data::chat_template_sources(folder / ".") == Sources{{"default", "{% unknown %}"}, {"rag", "é"}});
  monomorph::testing::write_bytes(folder / "chat_template.jinja", "{{ it }}\n");
  CHECK(monomorph::data::chat_template_sources(folder / ".") == Sources{{"default", "{{ it }}\n"}});
}

TEST_CASE("Of several templates by name, that for tools writes chats with tools") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokenizer_config.json";
  monomorph::testing::write_bytes(path, R"({"chat_template": [{"name": "default", "template": "plain"},
                                         {"name": "tool_use", "template": "{{ tools|length }} tools"}]})");
  CHECK(said(ModelTemplate::of_file(path)) == "plain");
  CHECK(said(ModelTemplate::of_file(path), Value::list({"a tool"})) == "1 tools");
}

TEST_CASE("Whether a template has a place for tools is tried, not read off its words") {
  const TemporaryFolder folder;
  const auto takes_tools = [&](const std::string& source) {
    monomorph::testing::write_bytes(folder / "a.jinja", source);
    return ModelTemplate::of_file(folder / "a.jinja").takes_tools();
  };
  const std::string said_all = "{% for m in messages %}{{ m.content }}{% endfor %}";
  CHECK_FALSE(takes_tools(said_all));
  CHECK_FALSE(takes_tools("{# tools are not written #}" + said_all + "{{ '' if tools else '' }}"));
  CHECK_FALSE(takes_tools(said_all + "{% if tools %}There are {{ tools|length }}.{% endif %}"));
  CHECK(takes_tools("{{ tools|tojson }}" + said_all));
  CHECK(takes_tools(said_all + "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}"));
  CHECK(takes_tools("{{ raise_exception('a system message must come first') }}"));
}

TEST_CASE("Files of chat templates that are broken are refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder / "tokenizer_config.json";
  const auto refusal = [&](const std::string& content) {
    monomorph::testing::write_bytes(path, content);
    return error_of([&] { ModelTemplate::of_file(path); });
  };
  CHECK(contains(refusal("{"), "[CHAT-16]"));
  CHECK(contains(refusal("[]"), "is no JSON object"));
  CHECK(contains(refusal(std::string("{\"chat_template\": \"a\"}\0{}", 25)), "there is a NUL byte (column 23)"));
  CHECK(contains(refusal("{\"chat_template\": \"a\",\n\"n\": 1e400}"), "number overflow parsing '1e400' (line 2, "));
  CHECK(contains(refusal(R"({"chat_template": 1})"), "neither a text nor a list"));
  CHECK(contains(refusal(R"({"chat_template": [1]})"), "[CHAT-16]"));
  CHECK(contains(refusal(R"({"chat_template": [{"name": "other", "template": ""}]})"), "\"default\""));
  CHECK(contains(refusal(R"({"chat_template": "a", "bos_token": 1})"), "bos_token"));
  CHECK(contains(refusal("{}"), "[CHAT-17]"));
  CHECK(contains(refusal("{}"), "with --template"));
  CHECK(contains(error_of([&] { ModelTemplate::of_file(folder / "."); }), "with --template"));
  CHECK(contains(refusal(R"({"chat_template": "{% if %}"})"), "[JINJA-01]"));
}
