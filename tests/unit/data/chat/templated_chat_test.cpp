// Chats by models' own templates: ids and masks against transformers, and what cannot be told.
#include "data/chat/templated_chat_encoder.hpp"
#include "data/records/line_block.hpp"
#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/chat/chat_pack.hpp>
#include <monomorph/data/formats/loss_mask.hpp>

#include <map>

using namespace monomorph::data;

namespace {

/// 2025-03-09, noon, as the fixtures have it.
std::time_t noon() {
  std::tm parts{};
  parts.tm_year = 125, parts.tm_mon = 2, parts.tm_mday = 9, parts.tm_hour = 12, parts.tm_isdst = -1;
  return std::mktime(&parts);
}

/// A model's folder with a template and the names of two tokens.
ModelTemplate model_template(const std::string& source,
                             const std::string& tokens = R"({"bos_token": "<s>", "eos_token": "</s>"})") {
  const TemporaryFolder folder;
  folder.write("tokenizer_config.json", tokens);
  return ModelTemplate::of_file(folder.write("chat_template.jinja", source));
}

/// What becomes of a record: its tokens, with those that count in brackets, or why it is refused.
std::string shown(const ModelTemplate& chat_template, const std::string& record,
                  std::int64_t most_steps = TemplatedChatEncoder::usual_steps) {
  const std::string padded = record + std::string(LineBlock::padding_bytes, '"');
  TemplatedChat chat;
  const auto problem = TemplatedChatRecords("").read(std::string_view(padded).substr(0, record.size()), chat);
  if (problem) return "[" + std::string(problem->id.text()) + "] " + problem->reason;
  EncodedChat encoded;
  const std::string refusal = error_of(
      [&] { encoded = TemplatedChatEncoder(chat_tokenizer(), chat_template, noon(), most_steps).encode(chat); });
  if (!refusal.empty()) return refusal;
  std::string text;
  for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
    if (encoded.counted[i] && (i == 0 || !encoded.counted[i - 1])) text += '[';
    text += chat_tokenizer().is_special(encoded.ids[i]) ? chat_tokenizer().token_of(encoded.ids[i])
                                                        : chat_tokenizer().bytes_of(encoded.ids[i]);
    if (encoded.counted[i] && (i + 1 == encoded.ids.size() || !encoded.counted[i + 1])) text += ']';
  }
  return text;
}

std::string messages(const std::string& list, const std::string& more = "") {
  return R"({"messages": [)" + list + "]" + more + "}";
}

const std::string question = R"({"role": "user", "content": "Why?"})",
                  answer = R"({"role": "assistant", "content": "So."})";
const std::string plain =
    "{% for m in messages %}<|im_start|>{{ m.role }}:{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant:{% endif %}";

}  // namespace

TEST_CASE("By published templates, chats have the ids and masks of transformers") {
  std::map<std::string, std::unique_ptr<const Tokenizer>> tokenizers;
  int n_equal = 0, n_refused = 0;
  std::istringstream lines(monomorph::read_text_file(chat_fixture("expected_templates.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const auto expected = nlohmann::json::parse(line);
    INFO(expected["tokenizer"] << ", " << expected["template"] << ", " << expected["chat"]);
    auto& tokenizer = tokenizers[expected["tokenizer"]];
    if (tokenizer == nullptr) tokenizer = read_tokenizer(chat_fixture(expected["tokenizer"]));
    const ModelTemplate chat_template = model_template(
        monomorph::read_text_file(chat_fixture("../jinja/templates/" + expected["template"].get<std::string>())));
    TemplatedChatEncoder encoder(*tokenizer, chat_template, noon());
    TemplatedChat chat;
    const std::string padded = line + std::string(LineBlock::padding_bytes, '"');
    REQUIRE_FALSE(TemplatedChatRecords("").read(std::string_view(padded).substr(0, line.size()), chat).has_value());
    EncodedChat encoded;
    const std::string refusal = error_of([&] { encoded = encoder.encode(chat); });
    if (expected.contains("refused")) {
      CHECK(contains(refusal, "[" + expected["refused"].get<std::string>()));
      ++n_refused;
      continue;
    }
    CHECK(refusal.empty());
    CHECK(encoded.ids == expected["ids"].get<std::vector<std::int32_t>>());
    std::string counted;
    for (const bool bit : encoded.counted) counted += bit ? '1' : '0';
    CHECK(counted == expected["counted"].get<std::string>());
    ++n_equal;
  }
  CHECK(n_equal > 150);
  CHECK(n_refused > 10);
}

TEST_CASE("Where a template marks nothing, a turn is what one rendering adds to another") {
  const ModelTemplate chat_template = model_template(plain);
  CHECK(shown(chat_template, messages(question + "," + answer + "," + question + "," + answer)) ==
        "<|im_start|>user:Why?<|im_end|>\n<|im_start|>assistant:[So.<|im_end|>]\n"
        "<|im_start|>user:Why?<|im_end|>\n<|im_start|>assistant:[So.<|im_end|>]\n");
  CHECK(shown(chat_template, messages(R"({"role": "assistant", "content": "So.", "weight": 0},)" + answer)) ==
        "<|im_start|>assistant:So.<|im_end|>\n<|im_start|>assistant:[So.<|im_end|>]\n");
  CHECK(shown(chat_template, R"([{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}])") ==
        "<|im_start|>user:Why?<|im_end|>\n<|im_start|>assistant:[So.<|im_end|>]\n");
  // A template that writes the same turn otherwise where it is not the last, or where what precedes it ends.
  CHECK(contains(shown(model_template("{% for m in messages %}{{ m.content }}{{ '!' if loop.last }}{% endfor %}"),
                       messages(answer + "," + question)),
                 "[CHAT-18]"));
  CHECK(contains(shown(model_template("{{ messages|length }}{% for m in messages %}{{ m.content }}{% endfor %}"),
                       messages(question + "," + answer)),
                 "what comes before message 2"));
}

TEST_CASE("A chat with so many turns that comparing its beginnings would take for ever is refused") {
  const auto with_turns = [](int n_turns) {
    std::string list = answer;
    for (int i = 1; i < n_turns; ++i) list += "," + answer;
    return messages(list);
  };
  constexpr std::int64_t most_steps = 200'000;
  const std::string few = shown(model_template(plain), with_turns(40), most_steps);
  CHECK(few.ends_with("<|im_start|>assistant:[So.<|im_end|>]\n"));
  const std::string refusal = shown(model_template(plain), with_turns(500), most_steps);
  CHECK(contains(refusal, "[CHAT-18]"));
  CHECK(contains(refusal, "each of its 500 turns takes more than 200000 steps"));
  CHECK(shown(model_template(plain), with_turns(500)) != refusal);
  // A template that looks at no message takes a step for each that is copied; one that marks has nothing to compare.
  CHECK(contains(shown(model_template("nothing"), with_turns(500), most_steps), "[CHAT-18]"));
  CHECK(shown(model_template("{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"),
              with_turns(500), most_steps)
            .starts_with("[So.So."));
}

TEST_CASE("What a template marks counts, but for messages without weight") {
  const std::string loop =
      "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
      "{% endgeneration %}{% else %}({{ m.content }}){% endif %}{% endfor %}";
  const std::string silent = R"({"role": "assistant", "content": "No.", "weight": 0})";
  CHECK(shown(model_template(loop), messages(question + "," + answer)) == "(Why?)[So.]");
  CHECK(shown(model_template(loop), messages(silent + "," + question + "," + answer)) == "No.(Why?)[So.]");
  const std::string together = "{% generation %}{% for m in messages %}{{ m.content }}{% endfor %}{% endgeneration %}";
  CHECK(contains(shown(model_template(together), messages(silent + "," + answer)), "[CHAT-18]"));
  const std::string in_macro =
      "{% macro f(m) %}{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}"
      "{% for m in messages %}{{ '<' + f(m) + '>' }}{% endfor %}";
  CHECK(contains(shown(model_template(in_macro), messages(answer)), "[CHAT-18]"));
  const std::string in_itself = "{% generation %}a{% generation %}b{% endgeneration %}c{% endgeneration %}";
  CHECK(contains(shown(model_template(in_itself), messages(answer)), "[CHAT-18]"));
}

TEST_CASE("Tools and calls of tools come to the template as the record has them") {
  const ModelTemplate chat_template = model_template(
      "{{ tools[0].function.name if tools else 'none' }};{% for m in messages %}{% for c in m.tool_calls or [] %}"
      "{{ c.function.arguments|tojson }}{% endfor %}{{ m.content or '' }};{% endfor %}");
  const std::string call = R"({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f",
                              "arguments": {"z": 1.0, "a": [18446744073709551615, "ä"]}}}]})";
  CHECK(shown(chat_template, messages(call, R"(, "tools": [{"function": {"name": "f"}}])")) ==
        "f;[{\"z\": 1.0, \"a\": [1.8446744073709552e+19, \"ä\"]};]");
  CHECK(shown(chat_template, messages(answer, R"(, "tools": [])")) == "none;[So.;]");
  CHECK(contains(shown(chat_template, messages(answer, R"(, "tools": "[]")")), "[CHAT-04]"));
}

TEST_CASE("Of members with one name the last comes to the template") {
  const ModelTemplate chat_template =
      model_template("{{ tools|tojson if tools else 'none' }};{% for m in messages %}{{ m|tojson }}{% endfor %}");
  CHECK(shown(chat_template, messages(R"({"role": "user", "content": "No.", "content": "Why?"})",
                                      R"(, "tools": [1], "tools": [2, {"a": 1, "a": 2.0}])")) ==
        R"([2, {"a": 2.0}];{"role": "user", "content": "Why?"})");
  CHECK(contains(shown(chat_template, messages(question, R"(, "tools": [1], "tools": null)")), "none;"));
  CHECK(contains(shown(chat_template, messages(question, R"(, "tools": [1], "tools": 5)")), "[CHAT-04]"));
  CHECK(contains(shown(chat_template, R"({"messages": 5, "messages": [)" + question + "]}"), "Why?"));
}

TEST_CASE("Records and tokenizers that a model's template cannot be used with are refused") {
  const ModelTemplate chat_template = model_template(plain);
  CHECK(contains(shown(chat_template, "{"), "[DATA-02]"));
  CHECK(contains(shown(chat_template, "{}"), "[CHAT-03]"));
  CHECK(contains(shown(chat_template, messages("")), "[CHAT-03]"));
  CHECK(contains(shown(chat_template, R"({"messages": "a"})"), "[CHAT-03]"));
  CHECK(contains(shown(chat_template, messages("1")), "[CHAT-04] message 1"));
  CHECK(contains(shown(chat_template, messages(answer + R"(,{"content": "a"})")), "message 2: it has no \"role\""));
  CHECK(contains(shown(chat_template, messages(R"({"role": 1})")), "[CHAT-04]"));
  CHECK(contains(shown(chat_template, messages(R"({"from": "nobody", "value": "a"})")), "[CHAT-04]"));
  CHECK(contains(shown(chat_template, messages(R"({"from": "human"})")), "\"value\""));
  CHECK(contains(shown(chat_template, messages(R"({"role": "assistant", "weight": 0.5})")), "[CHAT-04]"));
  CHECK(contains(shown(chat_template, messages(answer, ", \"n\": 1e999")), "[CHAT-04]"));
  CHECK(contains(shown(chat_template, messages(std::string(200, '[') + std::string(200, ']'))), "[JINJA-05]"));
  CHECK(contains(shown(model_template("{{ raise_exception('no') }}"), messages(answer)), "[JINJA-04]"));
  const auto with_tokens = [&](const std::string& tokens) {
    const ModelTemplate with = model_template(plain, tokens);
    return error_of([&] { TemplatedChatEncoder(chat_tokenizer(), with, noon()); });
  };
  CHECK(contains(with_tokens(R"({"eos_token": "<nowhere>"})"), "[CHAT-02]"));
  CHECK(with_tokens(R"({"eos_token": "<|im_end|>", "bos_token": null})") == "");
}

TEST_CASE("A set by a model's own template has its mask, and the same bytes on any number of threads") {
  const TemporaryFolder folder;
  std::string records;
  for (int i = 0; i < 2000; ++i)
    records +=
        messages(question + R"(,{"role": "assistant", "content": ")" + std::string(i % 50u + 1, 'x') + "\"}") + "\n";
  const std::string input = folder.write("in.jsonl", records);
  const auto pack = [&](const std::string& name, int n_threads, ModelTemplate chat_template) {
    const ChatPackSummary summary =
        pack_chats({input}, chat_tokenizer(), folder.file(name + ".pbin"),
                   {.chat_template = std::move(chat_template), .sequence_length = 128, .n_threads = n_threads});
    CHECK(summary.n_chats == 2000);
    return bytes_at(folder.file(name + ".pbin")) + bytes_at(folder.file(name + ".mask"));
  };
  const std::string one = pack("one", 1, model_template(plain)), four = pack("four", 4, model_template(plain));
  CHECK(one == four);
  // Another template's mask is another one, though the samples are the same.
  CHECK(pack("other", 1, model_template(plain + "{# other #}")) != one);
  const PackedFile file(folder.file("one.pbin"));
  const LossMask mask = LossMask::beside(file).value();
  std::vector<std::int32_t> ids(static_cast<std::size_t>(file.n_tokens())), counted;
  file.read(0, ids);
  for (std::size_t i = 0; i < ids.size() && counted.size() < 3; ++i)
    if (mask.counts(static_cast<std::int64_t>(i))) counted.push_back(ids[i]);
  CHECK(chat_tokenizer().decode(counted).starts_with("x"));
  CHECK(ids.back() == chat_tokenizer().find("</s>"));  // padding
  CHECK(contains(error_of([&] {
                   pack_chats({input}, chat_tokenizer(), folder.file("a.pbin"),
                              {.chat_template = model_template(plain),
                               .sequence_length = 128,
                               .counted_roles = roles_named("user")});
                 }),
                 "[CHAT-09]"));
}
