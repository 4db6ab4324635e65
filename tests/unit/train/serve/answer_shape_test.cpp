// What requests ask answers to be: JSON, by a schema or not, and calls of tools that the client forces.
#include "train/serve/answer_shape.hpp"

#include "../inference/grammar_texts.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/inference/tool_calls.hpp"
#include "train/serve/api_error.hpp"
#include "train/serve/completion_answer.hpp"

#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::train::testing::accepts;
using nlohmann::json;

namespace {

const std::string fixtures = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/";

/// A model that is there but for its weights, with a published template.
struct Model {
  std::unique_ptr<const data::Tokenizer> tokenizer = data::read_tokenizer(fixtures + "tokenizers/qwen2.json");
  ServedModel served;

  explicit Model(const std::string& chat_template)
      : served{"model",
               *tokenizer,
               {},
               4096,
               ChatPrompt(*tokenizer, data::ModelTemplate::of_file(fixtures + "jinja/templates/" + chat_template)),
               std::make_shared<VocabularyOnDemand>()} {}

  CompletionRequest read(const std::string& more) const {
    return read_chat_completion(R"({"messages": [{"role": "user", "content": "Hot?"}], )" + more + "}", served);
  }
  std::string refusal(const std::string& more) const {
    try {
      read(more);
    } catch (const ApiError& error) {
      const json said = json::parse(error.json())["error"];
      const std::string message = said["message"];
      CHECK(message.find('\n') == std::string::npos);
      return fmt::format("{} {}: {}", error.status(), said["param"].get<std::string>(), message);
    }
    return "(none)";
  }
  bool takes(const std::string& more, const std::string& text) const {
    return accepts(read(more).settings.constraint->grammar, text);
  }
};

/// Two tools: one with a schema, one that takes anything.
const std::string strict_tool =
    R"({"type": "function", "function": {"name": "get_\"weather\"", "strict": true, "parameters": {"type": "object",
        "properties": {"place": {"type": "string"}, "day": {"enum": [1, 2]}}, "required": ["place", "day"], "additionalProperties": false}}})";
const std::string other_tool = R"({"type": "function", "function": {"name": "other"}})";
const std::string tools = R"("tools": [)" + strict_tool + "," + other_tool + "]";
const std::string required = tools + R"(, "tool_choice": "required")",
                  named = tools + R"(, "tool_choice": {"type": "function", "function": {"name": "other"}})";

std::string call(const std::string& name, const std::string& key, const std::string& arguments) {
  return R"({"name": ")" + name + R"(", ")" + key + "\": " + arguments + "}";
}
std::string marked(const std::string& call) { return "<tool_call>\n" + call + "\n</tool_call>"; }

const std::string weather = R"(get_\"weather\")", valid = R"({"place": "Zürich", "day": 2})",
                  wrong = R"({"place": "Z", "day": 3})";

std::string with_format(const std::string& schema) {
  return R"("response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": )" + schema + "}}";
}

json choice_of(const CompletionRequest& request, const ServedModel& model, const std::string& text) {
  CompletionAnswer answer(request, model);
  answer.add({.more = text, .drawn = 5, .finish = FinishReason::stop});
  return json::parse(answer.whole())["choices"][0];
}

}  // namespace

TEST_CASE("templates tell the form in which their models write calls") {
  const auto form = [](const std::string& name) { return Model(name).served.chat_prompt.call_form(); };
  const CallForm with_marks{true, "arguments"};
  for (const char* const name : {"qwen2_5.jinja", "qwen3.jinja", "hermes_3.jinja"}) {
    CAPTURE(name);
    CHECK(form(name) == with_marks);
  }
  for (const char* const name : {"llama3_2.jinja"}) {
    CAPTURE(name);
    CHECK(form(name) == CallForm{false, "parameters"});
  }
  // Forms that are not read here are none to write.
  for (const char* const name : {"glm4moe.jinja", "gemma.jinja", "mistral_nemo.jinja", "deepseekv3.jinja"}) {
    CAPTURE(name);
    CHECK(form(name) == CallForm{false, "arguments"});
  }
}

TEST_CASE("an answer that must call tools is calls, and what it tells of them") {
  const Model model("qwen2_5.jinja");
  CHECK(model.takes(required, marked(call(weather, "arguments", valid))));
  CHECK(model.takes(required, marked(call("other", "arguments", R"({"anything": [1, null]})"))));
  CHECK(model.takes(required,
                    marked(call("other", "arguments", "{}")) + "\n" + marked(call(weather, "arguments", valid))));
  for (const std::string& text : {std::string(), std::string("Hot."), marked(call(weather, "arguments", wrong)),
                                  marked(call("third", "arguments", "{}")), marked(call("other", "parameters", "{}")),
                                  call("other", "arguments", "{}"), "Yes. " + marked(call("other", "arguments", "{}")),
                                  marked(call("other", "arguments", "5"))})
    if (model.takes(required, text)) FAIL_CHECK(text);
  const std::string once = required + R"(, "parallel_tool_calls": false)";
  const std::string one = marked(call("other", "arguments", "{}"));
  CHECK(model.takes(once, one));
  CHECK_FALSE(model.takes(once, one + "\n" + one));
  CHECK(model.takes(named, one));
  CHECK_FALSE(model.takes(named, one + one));
  CHECK_FALSE(model.takes(named, marked(call(weather, "arguments", valid))));

  const json told = choice_of(model.read(required), model.served, one + marked(call(weather, "arguments", valid)));
  CHECK(told["finish_reason"] == "tool_calls");
  CHECK(told["message"]["content"].is_null());
  CHECK(told["message"]["tool_calls"].size() == 2);
  CHECK(told["message"]["tool_calls"][1]["function"]["name"] == "get_\"weather\"");
  const json by_name = choice_of(model.read(named), model.served, one);
  CHECK(by_name["finish_reason"] == "stop");  // as OpenAI's API has it
  CHECK(by_name["message"]["tool_calls"].size() == 1);

  const Model llama("llama3_2.jinja");
  const std::string bare = call("other", "parameters", "{\"a\": 1}");
  CHECK(llama.takes(required, bare));
  CHECK(llama.takes(required, bare + "; " + call(weather, "parameters", valid)));
  CHECK_FALSE(llama.takes(required, marked(bare)));
  CHECK_FALSE(llama.takes(required, call("other", "arguments", "{}")));
  CHECK(choice_of(llama.read(required), llama.served, bare + "; " + bare)["message"]["tool_calls"].size() == 2);
}

TEST_CASE("whatever an answer that must call tools can be, its calls are found") {
  for (const char* const name : {"qwen2_5.jinja", "llama3_2.jinja", "mistral_nemo.jinja"}) {
    const Model model(name);
    const auto request = model.read(required);
    unsigned state = 1;
    for (int i = 0; i < 60; ++i) {
      ConstrainedText text(request.settings.constraint);
      std::string written;
      for (int n = 0; n < 400 && !text.ended(); ++n) {
        std::vector<std::int32_t> ids;
        for (std::int32_t id = 0; id < model.tokenizer->vocab_size(); ++id)
          if (text.allowed().has(id)) ids.push_back(id);
        if (ids.empty()) break;
        if (text.complete() && n % 2 == 0) break;
        state = state * 1664525u + 1013904223u;
        const std::int32_t id = ids[(state >> 8) % ids.size()];
        written += model.served.vocabulary->of(*model.tokenizer, {})->text(id);
        text.accept(id);
      }
      if (!text.complete()) continue;
      CAPTURE(written);
      ToolCallFinder finder(request.tools);
      ToolCallFinder::Found found = finder.push(written);
      found += finder.finish();
      CHECK(found.text.empty());
      CHECK_FALSE(found.calls.empty());
    }
  }
}

TEST_CASE("a tool that is strict has its arguments kept to where the model may call as it likes") {
  const Model model("qwen2_5.jinja");
  const std::string good = marked(call(weather, "arguments", valid)), bad = marked(call(weather, "arguments", wrong));
  for (const std::string& text :
       {std::string(), std::string("It is hot.\n"), "I look.\n" + good, good + "\n" + good + " Done <b> <tool_",
        std::string("<tool_cal <tool_call"), std::string(" \n x {\"name\": 1}"), std::string("\xFF"),
        call(weather, "arguments", valid), marked(call("other", "arguments", "{\"x\": 1}"))})
    if (!model.takes(tools, text)) FAIL_CHECK(text);
  for (const std::string& text :
       {bad, "I look. " + bad, good + bad, "<<tool_call>" + call(weather, "arguments", wrong) + "</tool_call>",
        call(weather, "arguments", wrong), std::string("[") + call(weather, "arguments", wrong) + "]",
        std::string("a <tool_call>"), std::string("<tool_call>no</tool_call>")})
    if (model.takes(tools, text)) FAIL_CHECK(text);
  // Nothing is asked of a text where no tool is strict, or none may be called.
  CHECK(model.read(R"("tools": [)" + other_tool + "]").settings.constraint == nullptr);
  CHECK(model.read(tools + R"(, "tool_choice": "none")").settings.constraint == nullptr);
  CHECK(model.read(R"("n": 2)").settings.constraint == nullptr);
}

TEST_CASE("a tool whose schema cannot be kept to is refused if it is strict, and takes any object if not") {
  const Model model("qwen2_5.jinja");
  const auto tool = [](const std::string& parameters, const std::string& more) {
    return R"("tools": [{"type": "function", "function": {"name": "f", "parameters": )" + parameters + more + "}}]";
  };
  const std::string pattern = R"({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}})";
  const std::string must = R"(, "tool_choice": "required")";
  CHECK(model.takes(tool(pattern, "") + must, marked(call("f", "arguments", R"({"b": 5})"))));
  CHECK_FALSE(model.takes(tool(pattern, "") + must, marked(call("f", "arguments", "5"))));
  for (const std::string& choice : {std::string(), must})
    CHECK(model.refusal(tool(pattern, R"(, "strict": true)") + choice) ==
          "400 tools.0.function.parameters.properties.a.pattern: tools.0.function.parameters.properties.a.pattern is "
          "not supported here");
  CHECK(model.refusal(tool(pattern, R"(, "strict": true)") + R"(, "tool_choice": "none")") == "(none)");
  CHECK(model.refusal(tool(R"({"enum": []})", "") + must).starts_with("400 tools.0.function.parameters.enum:"));
  CHECK(model.refusal(tool(R"({"type": "array"})", "") + must).find("leaves nothing to write") != std::string::npos);
  // A schema of arguments is one of objects, whatever else it lets be.
  CHECK(model.takes(tool("{}", "") + must, marked(call("f", "arguments", R"({"b": 5})"))));
  CHECK_FALSE(model.takes(tool("{}", "") + must, marked(call("f", "arguments", "5"))));
}

TEST_CASE("an answer is JSON as the request has it") {
  const Model model("qwen2_5.jinja");
  const std::string object = R"("response_format": {"type": "json_object"})";
  CHECK(model.takes(object, R"({"a": [1]})"));
  CHECK_FALSE(model.takes(object, "[1]"));
  CHECK_FALSE(model.takes(object, "Yes."));
  CHECK(model.read(R"("response_format": {"type": "text"})").settings.constraint == nullptr);
  CHECK(model.read(R"("response_format": null)").settings.constraint == nullptr);
  // Members come in the order in which the request has them, which is not that of their names.
  const std::string schema =
      R"({"type": "object", "properties": {"z": {"type": "null"}, "a": {"type": "null"}}, "required": ["a", "z"], "additionalProperties": false})";
  CHECK(model.takes(with_format(schema), R"({"z": null, "a": null})"));
  CHECK_FALSE(model.takes(with_format(schema), R"({"a": null, "z": null})"));
  CHECK(choice_of(model.read(with_format(schema)), model.served, R"({"z":null,"a":null})")["finish_reason"] == "stop");
  // Beside tools the model may call instead; an answer that must call is no document.
  const std::string both = tools + ", " + with_format(schema);
  CHECK(model.takes(both, R"({"z":null,"a":null})"));
  CHECK(model.takes(both, marked(call(weather, "arguments", valid))));
  CHECK_FALSE(model.takes(both, marked(call(weather, "arguments", wrong))));
  CHECK_FALSE(model.takes(both, "Yes."));
  CHECK_FALSE(model.takes(required + ", " + with_format(schema), R"({"z":null,"a":null})"));
  CHECK(model.takes(tools + R"(, "tool_choice": "none", )" + with_format(schema), R"({"z":null,"a":null})"));
}

TEST_CASE("what cannot be asked of an answer is refused with the field") {
  const Model model("qwen2_5.jinja");
  const std::string place = "400 response_format.json_schema";
  CHECK(model.refusal(R"("response_format": "json")").starts_with("400 response_format:"));
  CHECK(model.refusal(R"("response_format": {})").starts_with("400 response_format.type:"));
  CHECK(model.refusal(R"("response_format": {"type": "xml"})").starts_with("400 response_format.type:"));
  CHECK(model.refusal(R"("response_format": {"type": "json_object", "x": 1})").starts_with("400 response_format.x:"));
  CHECK(model.refusal(R"("response_format": {"type": "json_schema"})").starts_with(place + ":"));
  CHECK(model.refusal(R"("response_format": {"type": "json_schema", "json_schema": {"schema": {}}})")
            .starts_with(place + ".name:"));
  CHECK(model.refusal(R"("response_format": {"type": "json_schema", "json_schema": {"name": "a"}})")
            .starts_with(place + ".schema:"));
  CHECK(
      model
          .refusal(
              R"("response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": 1}})")
          .starts_with(place + ".strict:"));
  CHECK(
      model.refusal(R"("response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "x": 1}})")
          .starts_with(place + ".x:"));
  CHECK(model.refusal(with_format(R"({"properties": {"a": {"pattern": "x"}}})")) ==
        place +
            ".schema.properties.a.pattern: response_format.json_schema.schema.properties.a.pattern is not supported "
            "here");
  CHECK(model.refusal(with_format(R"({"$ref": "#"})")).starts_with(place + ".schema: "));
  CHECK(model.refusal(with_format("{\"properties\": {\"a\\n\\u0000\\\"\": {\"format\": 1}}}")).find("format") !=
        std::string::npos);
  CHECK(model
            .refusal(R"("tools": [)" + other_tool +
                     R"(], "tool_choice": {"type": "function", "function": {"name": "third"}})")
            .starts_with("400 tool_choice.function.name:"));
  CHECK(model.refusal(R"("tools": [)" + other_tool + R"(], "tool_choice": {"type": "allowed_tools"})")
            .starts_with("400 tool_choice.type:"));
  CHECK(model
            .refusal(R"("tools": [)" + other_tool +
                     R"(], "tool_choice": {"type": "function", "function": {"name": "other", "x": 1}})")
            .starts_with("400 tool_choice.function.x:"));
}
