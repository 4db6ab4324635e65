#include "data/chat/chat_record.hpp"
#include "data/records/line_block.hpp"
#include "unit/data/chat_test_support.hpp"

using namespace monomorph::data;

namespace {

std::variant<std::vector<ChatMessage>, LineProblem> read(const std::string& text, const std::string& field) {
  const std::string padded = text + std::string(LineBlock::padding_bytes, '"');
  return ChatRecords(field).of(std::string_view(padded).substr(0, text.size()));
}

std::vector<ChatMessage> messages_of(const std::string& text, const std::string& field = "") {
  return std::get<std::vector<ChatMessage>>(read(text, field));
}

/// "id: reason"; "" for a good record.
std::string refusal(const std::string& text, const std::string& field = "") {
  const auto record = read(text, field);
  const auto* problem = std::get_if<LineProblem>(&record);
  return problem == nullptr ? "" : std::string(problem->id.text()) + ": " + problem->reason;
}

void check_dialogue(const std::vector<ChatMessage>& messages) {
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].role == ChatRole::user);
  CHECK(messages[0].content == "q\n");
  CHECK(messages[0].counted);
  CHECK(messages[1].role == ChatRole::assistant);
  CHECK(messages[1].content == "ä");
}

}  // namespace

TEST_CASE("Messages are found in all the shapes that sets of chats have") {
  const std::string list = R"([{"role": "user", "content": "q\n"}, {"content": "\u00e4", "role": "assistant"}])";
  check_dialogue(messages_of("{\"id\": 5, \"messages\": " + list + "}"));
  check_dialogue(messages_of("{\"conversations\": " + list + "}\r"));
  check_dialogue(messages_of(list));
  check_dialogue(messages_of("{\"a\": [{\"b\": " + list + "}]}", "/a/0/b"));
  check_dialogue(
      messages_of(R"({"conversations": [{"from": "human", "value": "q\n"}, {"from": "gpt", "value": "ä"}]})"));
  check_dialogue(messages_of(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}, "\n"]},
                                              {"role": "model", "content": "ä", "tool_calls": []}]})"));
  const auto weighted = messages_of(R"([{"role": "assistant", "content": "a", "weight": 0},
                                        {"role": "assistant", "content": "b", "weight": 1}])");
  CHECK_FALSE(weighted[0].counted);
  const std::string huge = R"({"id": 123456789012345678901234567890, "messages": )";
  check_dialogue(messages_of(huge + list + "}"));
  CHECK(contains(refusal(huge + R"([{"role": "user", "content": "a", "weight": 1}]})"), "64 bits"));
  CHECK(weighted[1].counted);
}

TEST_CASE("Of members with one name the last counts in chats, too") {
  const std::string dialogue = R"([{"role": "user", "content": "q\n"}, {"role": "assistant", "content": "ä"}])";
  check_dialogue(messages_of(R"({"messages": [5], "messages": )" + dialogue + "}"));
  check_dialogue(messages_of(R"({"conversations": [5], "conversations": )" + dialogue + "}"));
  check_dialogue(
      messages_of(R"([{"role": "bot", "content": 5, "weight": 0, "content": "q\n", "role": "user", "weight": 1},
                                 {"from": "bot", "from": "gpt", "value": 5, "value": "ä"}])"));
  check_dialogue(
      messages_of(R"([{"role": "user", "content": [{"type": "image", "text": 5, "text": "q\n", "type": "text"}]},
                                 {"role": "assistant", "content": "ä", "tool_calls": [{}], "tool_calls": null}])"));
  CHECK_FALSE(messages_of(R"([{"role": "user", "content": "", "weight": 1, "weight": 0}])")[0].counted);
  CHECK(contains(refusal(R"([{"role": "user", "role": "bot", "content": "a"}])"), "\"bot\""));
  CHECK(contains(refusal(R"([{"role": "assistant", "content": "a", "tool_calls": null, "tool_calls": [{}]}])"),
                 "tool_calls"));
  CHECK(contains(refusal("{\"messages\": " + dialogue + ", \"messages\": null}"), "CHAT-03"));
}

TEST_CASE("A record that is no chat is refused with the reason") {
  const auto check = [](const std::string& text, std::initializer_list<const char*> parts) {
    const std::string error = refusal(text);
    INFO(text << " -> " << error);
    CHECK_FALSE(error.empty());
    CHECK_FALSE(contains(error, "\n"));
    for (const char* part : parts) CHECK(contains(error, part));
  };
  check("", {"DATA-02", "blank"});
  check(" \t\r", {"DATA-02", "blank"});
  check("{\"messages\": [", {"DATA-02"});
  check("{\"messages\": []} {}", {"DATA-02"});
  check("[{\"role\": \"user\", \"content\": \"\xff\"}]", {"DATA-02"});
  check(R"([{"role": "user", "content": "\ud83d"}])", {"DATA-02"});
  check(std::string(100000, '['), {"DATA-02"});
  check("5", {"CHAT-03"});
  check("{\"text\": \"x\"}", {"CHAT-03", "neither /messages nor /conversations", "--field"});
  check("{\"messages\": {}}", {"CHAT-03", "an object"});
  check("{\"messages\": null}", {"CHAT-03", "null"});
  check("{\"messages\": []}", {"CHAT-03", "empty"});
  check("[5]", {"CHAT-04", "message 1", "a number"});
  check("[{\"content\": \"x\"}]", {"CHAT-04", "no \"role\""});
  check("[{\"from\": \"human\", \"content\": \"x\"}]", {"CHAT-04", "no \"value\""});
  check("[{\"role\": \"user\"}]", {"CHAT-04", "no \"content\""});
  check("[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"bot\", \"content\": \"b\"}]",
        {"CHAT-04", "message 2", "\"bot\""});
  check("[{\"role\": 1, \"content\": \"a\"}]", {"CHAT-04", "\"role\" is a number"});
  check("[{\"role\": \"user\", \"content\": null}]", {"CHAT-04", "null"});
  check("[{\"role\": \"user\", \"content\": 3.5}]", {"CHAT-04", "a number"});
  check("[{\"role\": \"user\", \"content\": [{\"type\": \"image_url\"}]}]", {"CHAT-04", "\"image_url\""});
  check("[{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}]", {"CHAT-04", "no \"text\""});
  check("[{\"role\": \"user\", \"content\": [7]}]", {"CHAT-04", "part"});
  check("[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{}]}]", {"CHAT-04", "tool_calls"});
  check("[{\"role\": \"assistant\", \"content\": \"\", \"weight\": 0.5}]", {"CHAT-04", "weight"});
  CHECK(contains(refusal("{}", "/a/b"), "CHAT-03: the record has no field \"/a/b\""));
  CHECK(contains(error_of([] { ChatRecords("messages"); }), "[DATA-10]"));
}
