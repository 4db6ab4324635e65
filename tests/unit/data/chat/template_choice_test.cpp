// One way to name a chat template, for all commands: a name that is known here, a file, or a model's folder.
#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/chat/template_choice.hpp>

#include <filesystem>

using namespace monomorph::data;

TEST_CASE("A template is chosen by a name that is known here, or by the path of a file or a model's folder") {
  const TemporaryFolder folder;
  for (const ChatTemplate& known : chat_templates())
    CHECK(TemplateChoice::named(std::string(known.name)).known() == &known);
  const std::string file = folder.write("chat_template.jinja", "{{ bos_token }}");
  folder.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  for (const std::string& path : {file, folder.file("."), folder.file("tokenizer_config.json")}) {
    CAPTURE(path);
    if (path.ends_with(".json")) folder.write("tokenizer_config.json", R"({"chat_template": "{{ 1 }}"})");
    const TemplateChoice choice = TemplateChoice::named(path);
    CHECK(choice.known() == nullptr);
    REQUIRE(choice.of_model() != nullptr);
    CHECK(choice.fingerprint() == choice.of_model()->fingerprint());
  }
  const TemplateChoice known = TemplateChoice::named("gemma");
  CHECK(known.of_model() == nullptr);
  CHECK(known.fingerprint() == fingerprint(*find_chat_template("gemma")));
  CHECK(chat_tokenizer().token_of(known.padding(chat_tokenizer())) == "<end_of_turn>");
}

TEST_CASE("A template that is known here is itself in a folder into which it was written, unless others lie there") {
  for (const ChatTemplate& known : chat_templates()) {
    CAPTURE(known.name);
    const TemporaryFolder folder;
    const std::string file = folder.write("chat_template.jinja", std::string(known.jinja));
    CHECK(TemplateChoice::named(file).known() == &known);
    CHECK(TemplateChoice::named(folder.file(".")).known() == &known);
    CHECK(TemplateChoice::usual(chat_tokenizer(), folder.file("."))->known() == &known);
    std::filesystem::create_directory(folder.file("additional_chat_templates"));
    folder.write("additional_chat_templates/tool_use.jinja", "{{ tools }}");
    CHECK(TemplateChoice::named(folder.file(".")).of_model() != nullptr);
  }
}

TEST_CASE("What is neither a name nor a path is one error, and what is there but no template is another") {
  const TemporaryFolder folder;
  const auto refusal = [](const std::string& name) { return error_of([&] { TemplateChoice::named(name); }); };
  for (const std::string& name : {std::string(), std::string("chat-ml"), folder.file("nowhere.jinja")}) {
    CAPTURE(name);
    CHECK(contains(refusal(name), "[CHAT-01]"));
    CHECK(contains(refusal(name), "\"" + name + "\""));
    CHECK(contains(refusal(name),
                   "chatml, llama-3, gemma, mistral, zephyr, a file of one in Jinja, or a model's folder"));
  }
  CHECK(contains(refusal(folder.file(".")), "[CHAT-17]"));
  CHECK(contains(refusal(folder.write("broken.jinja", "{% if")), "[JINJA-01]"));
  CHECK(contains(refusal(folder.write("broken.json", "[")), "[CHAT-16]"));
}

TEST_CASE("Without a choice it is the model's own template, else the first whose tokens the tokenizer has") {
  const TemporaryFolder folder;
  const auto usual = TemplateChoice::usual(chat_tokenizer(), folder.file("."));
  REQUIRE(usual.has_value());
  CHECK(usual->known() == find_chat_template("chatml"));
  const auto gpt2 = read_tokenizer(fixture("gpt2_tokenizer.json"));
  CHECK_FALSE(TemplateChoice::usual(*gpt2, folder.file(".")).has_value());
  folder.write("chat_template.jinja", "own");
  CHECK(TemplateChoice::usual(*gpt2, folder.file("."))->of_model() != nullptr);
  CHECK(TemplateChoice::usual(chat_tokenizer(), folder.file("."))->of_model() != nullptr);
}
