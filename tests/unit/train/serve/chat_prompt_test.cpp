// Templates that need tokens for which a model has no rows, and templates that can do without them.
#include "train/serve/chat_prompt.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <array>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::contains, monomorph::testing::error_of, monomorph::testing::TemporaryFolder,
    monomorph::testing::write_bytes;

namespace {

/// The message where the model has no row for a token.
std::string refusal_without(const data::TemplateChoice& chat_template, const std::string& left_out,
                            bool special = true) {
  static const auto tokenizer = data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/chat/tokenizer.json");
  const std::array tokens{data::AddedToken{.content = left_out, .id = 32001, .special = special}};
  return error_of([&] { ChatPrompt(*tokenizer, chat_template, tokens); });
}

data::TemplateChoice published_template(const std::string& name) {
  return data::TemplateChoice::of_file(MONOMORPH_SOURCE_DIR "/tests/fixtures/jinja/templates/" + name + ".jinja");
}

}  // namespace

TEST_CASE("a chat template is refused that begins or ends turns with a token for which the model has no row") {
  for (const auto& [name, token] : {std::pair{"gemma3", "<end_of_turn>"},
                                    {"gemma3", "<start_of_turn>"},
                                    {"qwen2_5", "<|im_end|>"},
                                    {"glm4moe", "<|user|>"},      // which ends turns of the assistant's
                                    {"gptoss", "<|return|>"}}) {  // behind the last answer alone
    CAPTURE(name, token);
    const std::string message = refusal_without(published_template(name), token);
    CHECK(message.starts_with("[CHAT-02] the chat template writes the special token \"" + std::string(token) + "\""));
    CHECK(contains(message, "its id 32001 is beyond the recipe's vocab_size; take a checkpoint"));
    CHECK(refusal_without(published_template(name), token, false) == "(no error)");
  }
  CHECK(contains(refusal_without(data::TemplateChoice::named("chatml"), "<|im_end|>"), "its id 32001 is beyond"));
}

TEST_CASE("tokens that a model's files name count where the template writes them") {
  const TemporaryFolder folder;
  write_bytes(folder / "tokenizer_config.json", R"({"bos_token": "<bos>", "pad_token": "<pad>"})");
  write_bytes(folder / "chat_template.jinja", "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}");
  const data::TemplateChoice chosen = data::TemplateChoice::of_file(folder.path());
  CHECK(contains(refusal_without(chosen, "<bos>"), "[CHAT-02]"));
  CHECK(refusal_without(chosen, "<pad>") == "(no error)");
}

TEST_CASE("a chat template does without the tokens that it writes into chats of another kind alone") {
  CHECK(refusal_without(published_template("gemma3"), "<start_of_image>") == "(no error)");
  CHECK(refusal_without(published_template("qwen2_5"), "<tool_call>") == "(no error)");
  CHECK(refusal_without(data::TemplateChoice::named("chatml"), "<end_of_turn>") == "(no error)");
  const TemporaryFolder folder;
  for (const std::string source :
       {"{{ raise_exception('no users here') + '<|im_end|>' }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}<|im_end|>"}) {
    CAPTURE(source);
    write_bytes(folder / "chat_template.jinja", source);
    CHECK(refusal_without(data::TemplateChoice::of_file(folder.path()), "<|im_end|>") == "(no error)");
  }
}
