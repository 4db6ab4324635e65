// What templates are given of requests for chats: tools, messages and variables; and calls of tools in answers, as
// clients are told.
#include "train/inference/sampling_choices.hpp"
#include "train/serve/api_error.hpp"
#include "train/serve/completion_answer.hpp"
#include "train/serve/completion_request.hpp"

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

using namespace monomorph;
using namespace monomorph::train;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

const std::string fixture_folder = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/";

/// A model that is there but for its weights, with a published template or one that is known here.
struct TemplateModel {
  std::unique_ptr<const data::Tokenizer> tokenizer = data::read_tokenizer(fixture_folder + "chat/tokenizer.json");
  ServedModel served;

  explicit TemplateModel(const std::string& chat_template)
      : served{"model", *tokenizer, {}, 4096, ChatPrompt(*tokenizer, chosen(chat_template))} {}

  /// "": none was chosen, and no files are there.
  std::optional<data::TemplateChoice> chosen(const std::string& chat_template) const {
    if (chat_template.empty()) return data::TemplateChoice::usual(*tokenizer, "nowhere");
    return data::TemplateChoice::named(chat_template);
  }
  CompletionRequest read(const std::string& body) const { return read_chat_completion(body, served); }
  std::string prompt(const std::string& body) const { return tokenizer->decode(read(body).prompts.front().ids); }
  /// The status of a refusal, its field, and what it says.
  std::string refusal(const std::string& body) const {
    try {
      read(body);
    } catch (const ApiError& error) {
      const json said = json::parse(error.json())["error"];
      return fmt::format("{} {}: {}", error.status(), said["param"].get<std::string>(),
                         said["message"].get<std::string>());
    }
    return "(none)";
  }
};

const std::string tool = R"({"type": "function", "function": {"name": "get_weather", "description": "The weather",
  "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "day": {"type": "integer"}}, "required": []}}})";
const std::string ask = R"({"role": "user", "content": "Hot?"})";

std::string body(const std::string& messages, const std::string& more) {
  return R"({"messages": [)" + messages + "]" + more + "}";
}
std::string with_tool(const std::string& more = "") { return body(ask, R"(, "tools": [)" + tool + "]" + more); }

/// What a client puts together out of the pieces of a stream.
struct Streamed {
  std::string content, finish;
  std::vector<json> calls;
  int n_pieces = 0;

  Streamed(const CompletionRequest& request, const ServedModel& model, const std::vector<std::string>& pieces) {
    CompletionAnswer answer(request, model);
    for (std::size_t i = 0; i <= pieces.size(); ++i) {
      TextEvent event{.more = i < pieces.size() ? pieces[i] : "", .drawn = 1};
      if (i == pieces.size()) event.finish = FinishReason::stop;
      answer.add(event);
      const std::string piece = answer.piece(event);
      if (piece.empty()) continue;
      ++n_pieces;
      const json choice = json::parse(piece)["choices"][0];
      content += choice["delta"].value("content", "");
      for (const json& call : choice["delta"].value("tool_calls", json::array())) calls.push_back(call);
      if (choice["finish_reason"].is_string()) finish = choice["finish_reason"];
    }
  }
};

json whole_choice(const CompletionRequest& request, const ServedModel& model, const std::string& text) {
  CompletionAnswer answer(request, model);
  answer.add({.more = text, .drawn = 5, .finish = FinishReason::stop});
  return json::parse(answer.whole())["choices"][0];
}

const std::string answered =
    "I look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Z\", \"day\": 1}}\n"
    "</tool_call>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}}\n</tool_call>";

/// A conversation of tests/fixtures/jinja as a client of the API writes it: arguments are texts.
std::string as_client(ordered_json conversation) {
  for (ordered_json& message : conversation["messages"])
    if (message.contains("tool_calls"))
      for (ordered_json& call : message["tool_calls"])
        call["function"]["arguments"] = call["function"]["arguments"].dump();
  return conversation.dump();
}

}  // namespace

TEST_CASE("Tools, calls and results are written by templates as transformers has them written") {
  const auto given = ordered_json::parse(read_text_file(fixture_folder + "jinja/conversations.json"));
  std::istringstream lines(read_text_file(fixture_folder + "jinja/expected.jsonl"));
  int n_checked = 0;
  for (std::string line; std::getline(lines, line);) {
    const json expected = json::parse(line);
    const std::string name = expected["conversation"], file = expected["template"];
    const bool has_tools = name == "offer" || name == "call" || name == "answered";
    const std::string source = read_text_file(fixture_folder + "jinja/templates/" + file);
    if (!has_tools || expected["prompt"] == false || !expected.contains("text") ||
        source.find("strftime_now") != std::string::npos)
      continue;
    INFO(file << ", " << name);
    const monomorph::testing::TemporaryFolder folder;
    monomorph::testing::write_bytes(folder / "chat_template.jinja", source);
    monomorph::testing::write_bytes(folder / "tokenizer_config.json", given["tokens"].dump());
    const TemplateModel model(folder / "chat_template.jinja");
    const std::string request = as_client(given["conversations"][name]);
    if (source.find("tools") == std::string::npos) {
      CHECK(model.refusal(request).starts_with("400 tools: the model's chat template has no place"));
      continue;
    }
    CHECK(model.read(request).prompts.front().ids == model.tokenizer->encode(expected["text"].get<std::string>()));
    ++n_checked;
  }
  CHECK(n_checked > 20);
}

TEST_CASE("Calls of tools are told as the API has them, at once and in a stream") {
  const TemplateModel model(fixture_folder + "jinja/templates/qwen2_5.jinja");
  const CompletionRequest request = model.read(with_tool());
  const json choice = whole_choice(request, model.served, answered);
  CHECK(choice["finish_reason"] == "tool_calls");
  CHECK(choice["message"]["content"] == "I look.");
  REQUIRE(choice["message"]["tool_calls"].size() == 2);
  const json first = choice["message"]["tool_calls"][0], second = choice["message"]["tool_calls"][1];
  CHECK(first["type"] == "function");
  CHECK(first["function"] == json{{"name", "get_weather"}, {"arguments", R"({"place": "Z", "day": 1})"}});
  CHECK(second["function"]["arguments"] == "{}");
  CHECK(first["id"] != second["id"]);
  CHECK_FALSE(first.contains("index"));

  const CompletionRequest streaming = model.read(with_tool(R"(, "stream": true)"));
  std::vector<std::string> letters;
  for (const char letter : answered) letters.emplace_back(1, letter);
  const Streamed streamed(streaming, model.served, letters);
  CHECK(streamed.content == "I look.");
  CHECK(streamed.finish == "tool_calls");
  REQUIRE(streamed.calls.size() == 2);
  CHECK(streamed.calls[0]["index"] == 0);
  CHECK(streamed.calls[1]["index"] == 1);
  CHECK(streamed.calls[0]["function"] == first["function"]);
  CHECK(streamed.n_pieces < 12);  // nothing is sent of what is held back

  const json one = whole_choice(model.read(with_tool(R"(, "parallel_tool_calls": false)")), model.served, answered);
  CHECK(one["message"]["tool_calls"].size() == 1);
  const json alone = whole_choice(request, model.served, R"({"name": "get_weather", "parameters": {}})");
  CHECK(alone["message"]["content"].is_null());
  CHECK(alone["message"]["tool_calls"].size() == 1);
}

TEST_CASE("Calls have names that Mistral's template takes back, with what the tools gave") {
  const monomorph::testing::TemporaryFolder folder;
  monomorph::testing::write_bytes(folder / "chat_template.jinja",
                                  read_text_file(fixture_folder + "jinja/templates/mistral_nemo.jinja"));
  monomorph::testing::write_bytes(folder / "tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
  const TemplateModel model(folder / "chat_template.jinja");
  const std::string two_calls = R"([{"name": "get_weather", "arguments": {"day": 1}}, {"name": "get_weather",
    "arguments": {}}])";
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const json message = whole_choice(model.read(with_tool()), model.served, two_calls)["message"];
    REQUIRE(message["tool_calls"].size() == 2);
    json conversation{json::parse(ask), message};
    for (const json& call : message["tool_calls"]) {
      const std::string id = call["id"];
      CHECK(id.size() == 9);
      CHECK(std::ranges::all_of(id, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }));
      ids.insert(id);
      conversation.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", "hot"}});
    }
    if (i > 0) continue;
    const std::string prompt = model.prompt(json{{"messages", conversation}}.dump());
    for (const std::string& id : ids) {
      CHECK(prompt.find(R"(, "id": ")" + id + '"') != std::string::npos);
      CHECK(prompt.find(R"("call_id": ")" + id + '"') != std::string::npos);
    }
  }
  CHECK(ids.size() == 200);
}

TEST_CASE("Templates are given who says a message, and what the model thought before it said one") {
  const monomorph::testing::TemporaryFolder folder;
  monomorph::testing::write_bytes(
      folder / "chat_template.jinja",
      "{% for m in messages %}({{ m.role }}{% if m.name is defined %} name={{ m.name }}{% endif %}"
      "{% if m.reasoning_content is defined %} thought={{ m.reasoning_content }}{% endif %}){% endfor %}");
  const TemplateModel model(folder / "chat_template.jinja");
  const auto message = [](const std::string& role, const std::string& more) {
    return R"({"role": ")" + role + R"(", "content": "a")" + more + "}";
  };
  const std::string name = R"(, "name": "Ada")", thought = R"(, "reasoning_content": "It is hot.")";
  CHECK(model.prompt(body(message("system", name) + "," + message("user", name) + "," +
                              message("assistant", name + thought) + "," + message("user", ""),
                          "")) == "(system name=Ada)(user name=Ada)(assistant name=Ada thought=It is hot.)(user)");
  CHECK(model.prompt(body(message("tool", name) + "," + message("assistant", R"(, "reasoning_content": "")") + "," +
                              message("assistant", R"(, "name": null, "reasoning_content": null)"),
                          "")) == "(tool name=Ada)(assistant thought=)(assistant)");
  CHECK(model.refusal(body(message("user", R"(, "name": 5)"), "")).starts_with("400 messages.0.name:"));
  CHECK(model.refusal(body(message("user", thought), "")).starts_with("400 messages.0.reasoning_content:"));
  CHECK(model.refusal(body(message("assistant", R"(, "reasoning_content": ["a"])"), ""))
            .starts_with("400 messages.0.reasoning_content:"));

  const TemplateModel qwen(fixture_folder + "jinja/templates/qwen3.jinja");
  CHECK(qwen.prompt(body(ask + "," + message("assistant", thought), "")).find("<think>\nIt is hot.\n</think>") !=
        std::string::npos);
}

TEST_CASE("Templates are given the variables of a request, in their order, and none that the chat itself gives") {
  const TemplateModel qwen(fixture_folder + "jinja/templates/qwen3.jinja"), known("chatml");
  const auto with = [](const std::string& variables) { return body(ask, R"(, "chat_template_kwargs": )" + variables); };
  const std::string off = "<think>\n\n</think>\n\n", usual = qwen.prompt(body(ask, ""));
  CHECK_FALSE(usual.ends_with(off));
  CHECK(qwen.prompt(with(R"({"enable_thinking": false})")) == usual + off);
  for (const std::string same : {"null", "{}", R"({"enable_thinking": true})", R"({"other": [1]})"})
    CHECK(qwen.prompt(with(same)) == usual);

  const monomorph::testing::TemporaryFolder folder;
  monomorph::testing::write_bytes(folder / "chat_template.jinja",
                                  "{{ all | tojson }}{{ nothing is none }}{{ messages | length }}");
  const TemplateModel model(folder / "chat_template.jinja");
  CHECK(model.prompt(with(R"({"nothing": null, "all": {"z": 1, "a": [true, 0.5, {"y": "ä\n", "b": null}]}})")) ==
        R"({"z": 1, "a": [true, 0.5, {"y": "ä\n", "b": null}]}True1)");

  const std::string field = "400 chat_template_kwargs: ";
  for (const std::string name : {"messages", "tools", "documents", "add_generation_prompt"})
    CHECK(model.refusal(with(R"({"a": 1, ")" + name + R"(": []})")).starts_with(field));
  for (const std::string bad : {"5", "[]", R"("{}")", "true"}) CHECK(model.refusal(with(bad)).starts_with(field));
  CHECK(known.refusal(with(R"({"enable_thinking": false})")).starts_with(field + "the model's chat template is none"));
  CHECK(known.refusal(with("{}")) == "(none)");
  const std::string deep = std::string(50, '[') + std::string(50, ']');
  CHECK(model.prompt(with(R"({"all": )" + deep + "}")).starts_with(deep));
}

TEST_CASE("A template that writes nothing of a chat, or is given too many variables, is the request's mistake") {
  const monomorph::testing::TemporaryFolder folder;
  monomorph::testing::write_bytes(
      folder / "chat_template.jinja",
      "{% for message in messages if message.role == 'user' %}{{ message.content }}{% endfor %}");
  const TemplateModel model(folder / "chat_template.jinja");
  CHECK(model.prompt(body(ask, "")) == "Hot?");
  CHECK(model.refusal(body(R"({"role": "system", "content": "x"})", "")) ==
        "400 messages: [JINJA-02] the chat template writes nothing of these messages; give others, or another template "
        "with --template");
  json variables;
  for (int i = 0; i < 64; ++i) variables["v" + std::to_string(i)] = i;
  CHECK(model.prompt(body(ask, R"(, "chat_template_kwargs": )" + variables.dump())) == "Hot?");
  variables["one_more"] = 1;
  CHECK(model.refusal(body(ask, R"(, "chat_template_kwargs": )" + variables.dump()))
            .starts_with("400 chat_template_kwargs: [CHAT-20] chat_template_kwargs has more than 64 members"));
}

TEST_CASE("Requests draw as the model's makers want it where they say nothing") {
  TemplateModel model(fixture_folder + "jinja/templates/qwen2_5.jinja");
  SamplingChoices{.temperature = 0.6, .top_p = 0.9, .min_p = 0.05, .repetition_penalty = 1.1, .top_k = 20}.apply_to(
      model.served.settings.sampling);
  const SamplingSettings usual = model.read(body(ask, "")).settings.sampling;
  CHECK(usual.temperature == 0.6);
  CHECK(usual.top_p == 0.9);
  CHECK(usual.min_p == 0.05);
  CHECK(usual.repetition_penalty == 1.1);
  CHECK(usual.top_k == 20);
  const SamplingSettings said =
      model.read(body(ask, R"(, "temperature": 1, "top_p": 1, "min_p": 0, "repetition_penalty": 1, "top_k": 7)"))
          .settings.sampling;
  CHECK(said.temperature == 1);
  CHECK(said.top_p == 1);
  CHECK(said.min_p == 0);
  CHECK(said.repetition_penalty == 1);
  CHECK(said.top_k == 7);
  for (const char* const all : {"0", "-1"})
    CHECK(!model.read(body(ask, std::string(R"(, "top_k": )") + all)).settings.sampling.top_k);
}

TEST_CASE("A call without arguments or an id is given to templates as it is") {
  const monomorph::testing::TemporaryFolder folder;
  monomorph::testing::write_bytes(folder / "chat_template.jinja",
                                  "{{ messages[-1].tool_calls[0].function.arguments }}"
                                  "{{ messages[-1].tool_calls[0].id is defined }}{{ tools }}");
  const TemplateModel model(folder / "chat_template.jinja");
  const auto called = [](const std::string& call) {
    return body(R"({"role": "assistant", "tool_calls": [)" + call + "]}", "");
  };
  CHECK(model.prompt(called(R"({"function": {"name": "f", "arguments": ""}})")).starts_with("{}False"));
  CHECK(model.prompt(called(R"({"id": "a", "function": {"name": "f", "arguments": "{}"}})")).starts_with("{}True"));
  // A number beyond fp64, which templates have not, leaves them a text.
  CHECK(model.prompt(called(R"({"function": {"name": "f", "arguments": "{\"a\": 1e400}"}})"))
            .starts_with(R"({"a": 1e400}False)"));
  CHECK(model.refusal(called(R"({"function": {"name": "f", "arguments": "[1e400]"}})"))
            .starts_with("400 messages.0.tool_calls.0.function.arguments"));
  CHECK(model.refusal(called(R"({"function": {"name": "f", "arguments": "{}\u0000x"}})"))
            .starts_with("400 messages.0.tool_calls.0.function.arguments: "));
}

TEST_CASE("Where no tool may be called, what looks like a call is text") {
  const TemplateModel model(fixture_folder + "jinja/templates/qwen2_5.jinja");
  for (const CompletionRequest& request :
       {model.read(body(ask, "")), model.read(with_tool(R"(, "tool_choice": "none")")),
        model.read(body(ask, R"(, "tools": [], "tool_choice": "auto")"))}) {
    CHECK(request.tools.empty());
    const json choice = whole_choice(request, model.served, answered);
    CHECK(choice["message"]["content"] == answered);
    CHECK_FALSE(choice["message"].contains("tool_calls"));
    CHECK(choice["finish_reason"] == "stop");
  }
  CHECK(model.prompt(with_tool(R"(, "tool_choice": "none")")) == model.prompt(body(ask, "")));
  CHECK(model.prompt(with_tool(R"(, "tool_choice": "auto")")) == model.prompt(with_tool()));
  const json other = whole_choice(model.read(with_tool()), model.served, R"({"name": "other", "arguments": {}})");
  CHECK(other["message"]["content"] == R"({"name": "other", "arguments": {}})");
  CHECK(other["finish_reason"] == "stop");
}

TEST_CASE("Requests about tools that cannot be are refused with the field") {
  const TemplateModel model(fixture_folder + "jinja/templates/qwen2_5.jinja"), known("chatml");
  const auto with = [&](const std::string& more) { return model.refusal(body(ask, ", " + more)); };
  CHECK(with(R"("tools": 5)").starts_with("400 tools:"));
  CHECK(with(R"("tools": [5])").starts_with("400 tools.0:"));
  CHECK(with(R"("tools": [{"type": "retrieval"}])").starts_with("400 tools.0.type:"));
  CHECK(with(R"("tools": [{"type": "function"}])").starts_with("400 tools.0.function:"));
  CHECK(with(R"("tools": [{"type": "function", "function": {}}])").starts_with("400 tools.0.function.name:"));
  CHECK(with(R"("tools": [{"type": "function", "function": {"name": "f", "parameters": 1}}])")
            .starts_with("400 tools.0.function.parameters:"));
  CHECK(with(R"("tools": [{"type": "function", "function": {"name": "f", "strict": 1}}])")
            .starts_with("400 tools.0.function.strict:"));
  CHECK(with(R"("tool_choice": "required")") == "400 tool_choice: tool_choice goes with tools");
  CHECK(with(R"("tool_choice": {"type": "function", "function": {"name": "f"}})") ==
        "400 tool_choice: tool_choice goes with tools");
  CHECK(with(R"("tool_choice": "any")").starts_with("400 tool_choice:"));
  CHECK(with(R"("parallel_tool_calls": 1)").starts_with("400 parallel_tool_calls:"));
  CHECK(with(R"("functions": [{}])").starts_with("400 functions:"));
  std::string many = tool;
  for (int i = 0; i < 128; ++i) many += "," + tool;
  CHECK(with("\"tools\": [" + many + "]").starts_with("400 tools:"));
  CHECK(known.refusal(with_tool()).starts_with("400 tools: the model's chat template has no place for tools"));

  const auto said = [&](const std::string& message) { return model.refusal(body(ask + "," + message, "")); };
  const auto call = [&](const std::string& inner) {
    return said(R"({"role": "assistant", "tool_calls": [)" + inner + "]}");
  };
  CHECK(call(R"({"id": "1", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}"}})") ==
        "(none)");
  CHECK(call("5").starts_with("400 messages.1.tool_calls.0:"));
  CHECK(call("{}").starts_with("400 messages.1.tool_calls.0.function:"));
  CHECK(call(R"({"type": "code"})").starts_with("400 messages.1.tool_calls.0.type:"));
  const std::string arguments = "messages.1.tool_calls.0.function.arguments:";
  for (const std::string bad : {"{", "[]", "5"})
    CHECK(call(R"({"function": {"name": "f", "arguments": ")" + bad + "\"}}").starts_with("400 " + arguments));
  CHECK(call(R"({"function": {"name": "f", "arguments": {}}})").starts_with("400 " + arguments));
  // Arguments as deep as templates may have them with the lists and dicts around them, and deeper.
  const auto nested = [&](std::size_t levels) {
    const std::string inner = std::string(levels - 1, '[') + std::string(levels - 1, ']');
    return call(R"({"function": {"name": "f", "arguments": "{\"a\": )" + inner + R"(}"}})");
  };
  CHECK(nested(95) == "(none)");
  for (const std::size_t levels : {96, 100, 101, 10'000})
    CHECK(
        nested(levels).starts_with("400 " + arguments + " [JINJA-05] messages.1.tool_calls.0.function.arguments lies"));
  CHECK(said(R"({"role": "user", "content": "a", "tool_calls": [{}]})").starts_with("400 messages.1.tool_calls:"));
  CHECK(said(R"({"role": "user", "content": "a", "tool_call_id": "1"})").starts_with("400 messages.1.tool_call_id:"));
  CHECK(said(R"({"role": "assistant"})").starts_with("400 messages.1.content:"));
  const std::string called =
      R"(,{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]})";
  CHECK(known.refusal(body(ask + called, "")).starts_with("400 messages: [CHAT-04] message 2"));
}
