// Which token ends a turn by a chat template: of published templates, of others, and of hostile ones.
#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/chat/turn_end.hpp>

#include <map>

using namespace monomorph::data;

namespace {

/// The fixtures' tokenizer with more special tokens.
Tokenizer tokenizer_with(const std::vector<std::string>& more) {
  TokenizerDefinition definition = read_tokenizer_definition(chat_fixture("tokenizer.json"));
  std::int32_t next = Tokenizer(definition).vocab_size();
  for (const std::string& token : more)
    definition.added_tokens.push_back({.content = token, .id = next++, .special = true, .normalized = false});
  return Tokenizer(std::move(definition));
}

/// As its token; "" if nothing ends a turn.
std::string end_of(const Tokenizer& tokenizer, ModelTemplate chat_template) {
  const auto end = turn_end(tokenizer, std::move(chat_template));
  return end ? tokenizer.token_of(*end) : "";
}

ModelTemplate written_by(const std::string& source) {
  const TemporaryFolder folder;
  folder.write("tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
  return ModelTemplate::of_file(folder.write("chat_template.jinja", source));
}

/// What ends a turn as the models' makers say, in generation_config.json or their documentation. Two have no template
/// for chats without tools.
const std::map<std::string, std::string> ends = {
    {"cohere", "<|END_OF_TURN_TOKEN|>"},
    {"command_r_plus", ""},
    {"deepseekv3", "<｜end▁of▁sentence｜>"},
    {"gemma", "<end_of_turn>"},
    {"gemma3", "<end_of_turn>"},
    {"glm4moe", "<|user|>"},   // where the user goes on: nothing stands behind an answer that is the last
    {"gptoss", "<|return|>"},  // <|end|> ends thoughts, too
    {"granite_3_3", "<|end_of_text|>"},
    {"hermes_3", ""},
    {"lfm2_v2", "<|im_end|>"},
    {"llama3", "<|eot_id|>"},
    {"llama3_2", "<|eot_id|>"},
    {"llama3_training", "<|eot_id|>"},
    {"minicpm5", "<|im_end|>"},
    {"mistral_nemo", "</s>"},
    {"nemotron_3_nano", "<|im_end|>"},
    {"phi3_5", "<|end|>"},
    {"qwen2_5", "<|im_end|>"},
    {"qwen2_5_training", "<|im_end|>"},
    {"qwen3", "<|im_end|>"},
    {"qwen3_training", "<|im_end|>"},
    {"smollm3", "<|im_end|>"},
};

}  // namespace

TEST_CASE("By published templates, the token that ends turns is that which transformers writes behind an answer") {
  const Tokenizer tokenizer = tokenizer_with({"<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<|end|>", "<|user|>",
                                              "<|assistant|>", "<|return|>", "<|start|>", "<|end_of_text|>",
                                              "<｜end▁of▁sentence｜>", "<｜User｜>", "[INST]", "[/INST]"});
  std::map<std::string, std::string> behind_answers;
  std::istringstream lines(monomorph::read_text_file(chat_fixture("../jinja/expected.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const auto rendered = nlohmann::json::parse(line);
    if (!rendered.contains("text") || rendered["conversation"] != "reply" || rendered["prompt"]) continue;
    const std::string text = rendered["text"], answer = "thanks.";
    const std::size_t behind = text.find_first_not_of(" \n", text.rfind(answer) + answer.size());
    behind_answers[rendered["template"]] = behind == std::string::npos ? "" : text.substr(behind);
  }
  for (const auto& [name, end] : ends) {
    CAPTURE(name);
    const std::string file = name + ".jinja";
    CHECK(end_of(tokenizer, written_by(monomorph::read_text_file(chat_fixture("../jinja/templates/" + file)))) == end);
    if (!end.empty() && name != "glm4moe") CHECK(behind_answers.at(file).starts_with(end));
  }
  CHECK(behind_answers.at("glm4moe.jinja").empty());
}

TEST_CASE("By a template that is known here, the token that ends turns is its own") {
  for (const ChatTemplate& known : chat_templates())
    CHECK(turn_end(chat_tokenizer(), known) == chat_tokenizer().find(known.end_token));
  const auto gpt2 = read_tokenizer(fixture("gpt2_tokenizer.json"));
  CHECK_FALSE(turn_end(*gpt2, *find_chat_template("chatml")).has_value());
}

TEST_CASE("A template that ends turns with nothing special has no such token") {
  const auto end = [](const std::string& source) { return end_of(chat_tokenizer(), written_by(source)); };
  const std::string all = "{% for m in messages %}{{ m.role }}: {{ m.content }}";
  CHECK(end(all + "\n{% endfor %}") == "");
  CHECK(end(all + "###{% endfor %}") == "");
  CHECK(end(all + "!<|im_end|>{% endfor %}") == "");
  CHECK(end(all + " \n<|im_end|>\n{% endfor %}") == "<|im_end|>");
  CHECK(end("nothing of it<|im_end|>") == "");
  CHECK(end(all + "{% if not loop.last %}<|im_end|>{% endif %}{% endfor %}") == "<|im_end|>");
  CHECK(end("{% for m in messages %}<|im_end|>{{ m.content }}{% endfor %}") == "<|im_end|>");
  CHECK(end("{{ messages[0].content }}<|im_end|>{{ messages[-1].content }}</s>{{ '<|eot_id|>' }}") == "</s>");
}

TEST_CASE("Templates that refuse, fail or never end have no token, and soon") {
  const auto end = [](const std::string& source) { return end_of(chat_tokenizer(), written_by(source)); };
  CHECK(end("{{ raise_exception('no') }}") == "");
  CHECK(end("{{ nothing.at.all }}<|im_end|>") == "");
  const std::string loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  CHECK(end(loops + "{{ messages[1].content }}<|im_end|>") == "");
  CHECK(end("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}") == "");
  CHECK(end("{% set n = namespace(x='x') %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}") ==
        "");
  // What refuses a user behind the answer, or an answer at the end, is tried the other way.
  CHECK(end("{{ raise_exception('no') if messages|length == 3 }}{{ messages[1].content }}<|im_end|>") == "<|im_end|>");
  CHECK(end("{{ raise_exception('no') if messages|length == 2 }}{{ messages[1].content }}<|im_end|>") == "<|im_end|>");
}
