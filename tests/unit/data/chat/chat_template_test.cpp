#include "unit/data/chat_test_support.hpp"

#include <set>

using namespace monomorph::data;

namespace {

std::string rendered(const ChatTemplate& chat_template, const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatPiece& piece : render_chat(chat_template, messages)) text += piece.text;
  return text;
}

std::string refusal(const std::string& name, const std::vector<ChatMessage>& messages) {
  return error_of([&] { render_chat(find_chat_template(name), messages); });
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

TEST_CASE("Each piece of a rendered chat knows whose it is") {
  const std::vector<ChatMessage> messages{{system_role, "S"}, {user, " U "}, {assistant, "A"}};
  std::string kinds;
  for (const ChatPiece& piece : render_chat(find_chat_template("gemma"), messages)) {
    kinds += std::to_string(piece.message) + "hce"[static_cast<int>(piece.kind)] + "(" + std::string(piece.text) + ")";
  }
  CHECK(kinds ==
        "0h(<bos>)1h(<start_of_turn>user\n)0c(S)1h(\n\n)1c(U)1e(<end_of_turn>)1h(\n)"
        "2h(<start_of_turn>model\n)2c(A)2e(<end_of_turn>)2h(\n)");
}

TEST_CASE("An unknown template is an error that lists those there are") {
  const std::string error = error_of([] { find_chat_template("chat-ml"); });
  INFO(error);
  CHECK(contains(error, "[CHAT-01]"));
  CHECK(contains(error, "\"chat-ml\""));
  CHECK(contains(error, "chatml, llama-3, gemma, mistral, zephyr"));
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
