#include "unit/data/data_test_support.hpp"

#include <monomorph/data/chat/model_template.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

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

TEST_CASE("Several templates, in files of their own or in a list, write what transformers writes by the same folder") {
  const std::string fixtures = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/named/";
  const auto expected = nlohmann::ordered_json::parse(monomorph::read_text_file(fixtures + "expected.json"));
  const auto value = [&](const char* name) {
    return monomorph::data::jinja::value_of_json(expected[name].dump(), "the fixture");
  };
  for (const auto& [name, written] : expected["folders"].items()) {
    CAPTURE(name);
    const ModelTemplate own = *ModelTemplate::of_folder(fixtures + name);
    CHECK(own.render(value("chat"), {}, false).text == written["plain"]);
    CHECK(own.render(value("chat"), {}, true).text == written["begun"]);
    CHECK(own.render(value("chat"), value("tools"), false).text == written["tools"]);
    std::vector<std::string> names;
    for (const auto& [of_one, source] : monomorph::data::chat_template_sources(fixtures + name))
      names.push_back(of_one);
    CHECK(names == written["names"]);
  }
  // Another one is chosen by its path, and has the tokens of the model.
  const ModelTemplate rag = ModelTemplate::of_file(fixtures + "files/additional_chat_templates/rag.jinja");
  CHECK(rag.render(value("chat"), {}, false).text == expected["folders"]["files"]["rag"]);
}

TEST_CASE("Templates in files of their own come with a default, and are read from the folder alone") {
  const TemporaryFolder folder;
  const std::string others = folder / "additional_chat_templates";
  std::filesystem::create_directories(others + "/folder.jinja");
  for (const std::string name : {"/.hidden.jinja", "/notes.txt"}) monomorph::testing::write_bytes(others + name, "x");
  CHECK_FALSE(ModelTemplate::of_folder(folder / ".").has_value());
  monomorph::testing::write_bytes(others + "/tool_use.jinja", "{{ tools|length }}");
  const auto refusal = [&] { return error_of([&] { ModelTemplate::of_folder(folder / "."); }); };
  CHECK(contains(refusal(), "[CHAT-16]"));
  CHECK(contains(refusal(), "chat_template.jinja"));
  monomorph::testing::write_bytes(folder / "chat_template.jinja", "plain");
  CHECK(said(*ModelTemplate::of_folder(folder / "."), Value::list({"a tool"})) == "1");
  std::filesystem::create_symlink("/etc/passwd", others + "/stolen.jinja");
  CHECK(contains(refusal(), "[FILE-07]"));
  std::filesystem::remove(others + "/stolen.jinja");
  monomorph::testing::write_bytes(others + "/broken.jinja", "{% if");
  CHECK(contains(refusal(), "broken.jinja"));
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
