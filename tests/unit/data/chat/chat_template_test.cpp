#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/jinja/template.hpp>

#include <set>

using namespace monomorph::data;

namespace {

std::string rendered(const ChatTemplate& chat_template, const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatPiece& piece : render_chat(chat_template, messages)) text += piece.text;
  return text;
}

std::string refusal(const std::string& name, const std::vector<ChatMessage>& messages) {
  return error_of([&] { render_chat(*find_chat_template(name), messages); });
}

constexpr auto system_role = ChatRole::system;
constexpr auto user = ChatRole::user;
constexpr auto assistant = ChatRole::assistant;

}  // namespace

TEST_CASE("Chats are rendered as the published Jinja templates render them") {
  int n_rendered = 0, n_refused = 0;
  for (const ExpectedChat& chat : expected_chats("expected.jsonl")) {
    INFO(chat.json.dump());
    if (chat.json.contains("refused")) {
      const std::string error = error_of([&] { rendered(chat.chat_template(), chat.messages); });
      CHECK((contains(error, "[CHAT-04] message ") || contains(error, "[CHAT-05] ")));
      ++n_refused;
    } else {
      CHECK(rendered(chat.chat_template(), chat.messages) == chat.json["rendered"].get<std::string>());
      ++n_rendered;
    }
  }
  CHECK(n_rendered == 54);
  CHECK(n_refused == 11);
}

namespace {

/// What is written of a template in Jinja makes of a chat.
std::string rendered_in_jinja(const ChatTemplate& chat_template, const nlohmann::json& messages,
                              bool with_answer_begun) {
  return jinja::Template(std::string(chat_template.jinja), "known")
      .render({{"messages", jinja::value_of_json(messages.dump(), "the chat")},
               {"add_generation_prompt", with_answer_begun}},
              {}, 0)
      .text;
}

}  // namespace

TEST_CASE("In Jinja the templates write the same, and refuse the same") {
  for (const ExpectedChat& chat : expected_chats("expected.jsonl")) {
    INFO(chat.json.dump());
    const auto render = [&] { return rendered_in_jinja(chat.chat_template(), chat.json["messages"], false); };
    if (chat.json.contains("refused"))
      CHECK(contains(error_of(render), "[JINJA-04]"));
    else
      CHECK(render() == chat.json["rendered"].get<std::string>());
  }
}

TEST_CASE(
    "In Jinja the templates begin an answer as its turn begins, but for a space that belongs to its first token") {
  const nlohmann::json question = {{{"role", "user"}, {"content", "a"}}};
  for (const ChatTemplate& known : chat_templates()) {
    CAPTURE(known.name);
    const std::string before = rendered_in_jinja(known, question, false),
                      begun = rendered_in_jinja(known, question, true);
    const auto& header = known.turns[static_cast<std::size_t>(assistant)].before;
    CHECK(begun == before + std::string(header == " " ? "" : header));
    CHECK(find_chat_template_in_jinja(known.jinja) == &known);
    CHECK(find_chat_template_of(fingerprint(known)) == &known);
  }
  CHECK(find_chat_template_in_jinja("") == nullptr);
  CHECK(find_chat_template_in_jinja(std::string(find_chat_template("chatml")->jinja) + " ") == nullptr);
  CHECK(find_chat_template_of(0) == nullptr);
}

TEST_CASE("Each piece of a rendered chat knows whose it is") {
  const std::vector<ChatMessage> messages{{system_role, "S"}, {user, " U "}, {assistant, "A"}};
  std::string kinds;
  for (const ChatPiece& piece : render_chat(*find_chat_template("gemma"), messages)) {
    kinds += std::to_string(piece.message) + "hce"[static_cast<int>(piece.kind)] + "(" + std::string(piece.text) + ")";
  }
  CHECK(kinds ==
        "0h(<bos>)1h(<start_of_turn>user\n)0c(S)1h(\n\n)1c(U)1e(<end_of_turn>)1h(\n)"
        "2h(<start_of_turn>model\n)2c(A)2e(<end_of_turn>)2h(\n)");
}

TEST_CASE("Templates are found by their names, and unknown ones are not") {
  for (const ChatTemplate& known : chat_templates()) CHECK(find_chat_template(known.name) == &known);
  for (const std::string name : {"", "chat-ml", "chatm", "chatml "}) CHECK(find_chat_template(name) == nullptr);
  CHECK(chat_template_names() == "chatml, llama-3, gemma, mistral, zephyr");
}

TEST_CASE("What a template has no place for is refused with the message's number") {
  CHECK(refusal("mistral", {{user, "a"}, {user, "b"}})
            .starts_with("[CHAT-05] message 2: it is the user's where the assistant's must be"));
  CHECK(contains(refusal("gemma", {{user, "a"}, {system_role, "b"}}), "message 2: for the template gemma a system"));
  CHECK(contains(refusal("gemma", {{system_role, "b"}}), "[CHAT-05]"));
  CHECK(contains(refusal("zephyr", {{user, "a"}, {ChatRole::tool, "b"}}), "[CHAT-04] message 2"));
  CHECK(contains(refusal("chatml", {{user, " \n"}}), "[CHAT-06] message 1: the user says nothing"));
  CHECK(contains(refusal("chatml", {{user, "a"}, {assistant, "\xe3\x80\x80\x1c"}}), "[CHAT-06]"));
  CHECK(refusal("chatml", {{system_role, ""}, {user, "a"}}).empty());
}

TEST_CASE("No two templates have the same fingerprint") {
  std::set<std::uint64_t> fingerprints;
  for (const ChatTemplate& chat_template : chat_templates()) fingerprints.insert(fingerprint(chat_template));
  CHECK(fingerprints.size() == chat_templates().size());
}
