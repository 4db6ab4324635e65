#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/chat/preference_pack.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>

using namespace monomorph::data;
using monomorph::ignored_target;

namespace {

using Json = nlohmann::json;

std::string line(const Json& record) { return record.dump() + "\n"; }
std::string texts(const std::string& prompt, const std::string& chosen, const std::string& rejected) {
  return line({{"prompt", prompt}, {"chosen", chosen}, {"rejected", rejected}});
}
Json message(const std::string& role, const std::string& content) { return {{"role", role}, {"content", content}}; }

/// The fixtures' tokenizer has no <|endoftext|>.
const std::string end = "<|im_end|>";

struct Packed {
  TemporaryFolder folder;
  std::string output = folder.file("pairs.pbin");
  PreferencePackSettings settings{.end_of_text = end, .sequence_length = 48};

  PreferencePackSummary run(const std::string& records) const {
    return pack_preferences({folder.write("in.jsonl", records)}, chat_tokenizer(), output, settings);
  }
  std::string refusal(const std::string& records) const {
    return error_of([&] { run(records); });
  }
  std::string refusal_of_option(const std::string& records, auto change) const {
    PreferencePackSettings other = settings;
    change(other);
    return error_of([&] { pack_preferences({folder.write("in.jsonl", records)}, chat_tokenizer(), output, other); });
  }
};

const BatchContents without_reference{.document_starts = true, .sequences_per_sample = 2};
BatchContents with_reference() {
  BatchContents contents = without_reference;
  contents.reference_scores = true;
  return contents;
}

/// What a run reads of a set.
struct SequencesBatch {
  std::int64_t T;
  std::vector<std::int32_t> inputs, targets, starts;
  SequencesBatch(const Packed& packed, std::int64_t samples)
      : T(packed.settings.sequence_length),
        inputs(static_cast<std::size_t>(samples * T)),
        targets(inputs.size()),
        starts(inputs.size()) {
    EvaluationLoader(packed.output, T, 1 << 20, without_reference)
        .read(0, samples, {inputs.data(), targets.data(), starts.data()});
  }
  /// Of document k of a sample: its text, or that of its targets.
  std::string text(std::int64_t sample, int k) const { return decoded(sample, k, inputs); }
  std::string counted(std::int64_t sample, int k) const { return decoded(sample, k, targets); }

 private:
  std::string decoded(std::int64_t sample, int k, const std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> of_document;
    int document = -1;
    for (std::int64_t t = 0; t < T; ++t) {
      const auto i = static_cast<std::size_t>(sample * T + t);
      if (starts[i] == t) ++document;
      if (document == k && ids[i] != ignored_target) of_document.push_back(ids[i]);
    }
    return chat_tokenizer().decode(of_document);
  }
};

}  // namespace

TEST_CASE("A pair of texts is a sample of two documents, of which the answers count, and of padding") {
  const Packed packed;
  const PreferencePackSummary summary =
      packed.run(texts("who is there", " nay answer me", " long live") + texts("a", " b", " c d e f"));
  CHECK(summary.n_records == 2);
  CHECK(summary.n_pairs == 2);
  CHECK(summary.n_tokens == 2 * 48 + 1);
  const SequencesBatch batch(packed, 3);  // one more than there are
  CHECK(batch.text(0, 0) == "who is there nay answer me" + end);
  CHECK(batch.text(0, 1) == "who is there long live" + end);
  CHECK(batch.counted(0, 0) == " nay answer me" + end);
  CHECK(batch.counted(0, 1) == " long live" + end);
  CHECK(batch.counted(0, 2).empty());
  CHECK(batch.text(1, 0) == "a b" + end);
  CHECK(batch.counted(1, 1) == " c d e f" + end);
  CHECK(std::ranges::count(batch.targets.begin() + 96, batch.targets.end(), ignored_target) == 48);
  // The counted tokens are those of the ids that are encoded one after the other.
  std::int64_t counted = 0;
  for (const std::string answer : {" nay answer me", " long live", " b", " c d e f"})
    counted += std::ssize(chat_tokenizer().encode(answer)) + 1;
  CHECK(summary.n_counted == counted);
}

TEST_CASE("Without a prompt, it is what both texts begin with, up to a space or a character") {
  const Packed packed;
  packed.run(line({{"chosen", "who is there now"}, {"rejected", "who is there yet"}}) +
             line({{"chosen", "say \u00e4"}, {"rejected", "say \u00f6"}}) +
             line({{"prompt", nullptr}, {"chosen", "abc"}, {"rejected", "xyz"}}));
  const SequencesBatch batch(packed, 3);
  CHECK(batch.counted(0, 0) == " now" + end);
  CHECK(batch.counted(0, 1) == " yet" + end);
  CHECK(batch.counted(1, 0) == " \u00e4" + end);
  CHECK(batch.counted(1, 1) == " \u00f6" + end);
  CHECK(batch.text(2, 0) == "abc" + end);
}

TEST_CASE("Chats are written by a template, and the answers' turns count alone") {
  Packed packed;
  packed.settings.chat_template = *find_chat_template("chatml");
  packed.settings.sequence_length = 160;
  const Json asked = {message("user", "who"), message("assistant", "nay"), message("user", "why")};
  const Json chosen = {message("assistant", "so")}, rejected = {message("assistant", "no")};
  const auto after = [](Json all, const Json& more) {
    for (const Json& one : more) all.push_back(one);
    return all;
  };
  packed.run(line({{"prompt", asked}, {"chosen", chosen}, {"rejected", rejected}}) +
             line({{"chosen", after(asked, chosen)}, {"rejected", after(asked, rejected)}}) +
             line({{"prompt", "who"}, {"chosen", after(asked, chosen)}, {"rejected", after(asked, rejected)}}));
  const SequencesBatch batch(packed, 3);
  const std::string prompt =
      "<|im_start|>user\nwho<|im_end|>\n<|im_start|>assistant\nnay<|im_end|>\n<|im_start|>user\nwhy<|im_end|>\n";
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    CAPTURE(sample);
    CHECK(batch.text(sample, 0) == prompt + "<|im_start|>assistant\nso<|im_end|>\n");
    CHECK(batch.counted(sample, 0) == "so<|im_end|>");
    CHECK(batch.counted(sample, 1) == "no<|im_end|>");
  }
}

TEST_CASE("By models' own templates, answers have the ids and masks of transformers") {
  int n_equal = 0;
  std::istringstream lines(monomorph::read_text_file(chat_fixture("expected_templates.jsonl")));
  for (std::string expected_line; std::getline(lines, expected_line);) {
    const auto expected = Json::parse(expected_line);
    if (expected["tokenizer"] != "tokenizer.json" || expected["chat"] != "reply" || expected.contains("refused"))
      continue;
    const std::string name = expected["template"];
    CAPTURE(name);
    Packed packed;
    packed.folder.write("tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
    packed.settings.chat_template = ModelTemplate::of_file(
        packed.folder.write("chat_template.jinja",
                            monomorph::read_text_file(chat_fixture("../jinja/templates/" + name))));
    packed.settings.now = 1'741'521'600;  // 2025-03-09, noon, as the fixtures have it
    packed.settings.sequence_length = 4096;
    const std::vector<std::int32_t> ids = expected["ids"];
    const Json asked = Json::array({expected["messages"][0]}), chosen = Json::array({expected["messages"][1]}),
               rejected = Json::array({message("assistant", "Neither.")});
    packed.run(line({{"prompt", asked}, {"chosen", chosen}, {"rejected", rejected}}));
    const SequencesBatch batch(packed, 1);
    CHECK(std::equal(ids.begin(), ids.end(), batch.inputs.begin()));
    // A target is the token behind an input, and a document's last input has the next one's first token as none.
    std::string counted(1, expected["counted"].get<std::string>()[0]);
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) counted += batch.targets[i] == ignored_target ? '0' : '1';
    CHECK(counted == expected["counted"].get<std::string>());
    CHECK(batch.starts[ids.size()] == static_cast<std::int32_t>(ids.size()));
    CHECK(contains(batch.counted(0, 1), "Neither."));
    ++n_equal;
  }
  CHECK(n_equal > 10);
}

TEST_CASE("By a model's own template, tools come to it, what both answers begin with does not count, and it refuses") {
  Packed packed;
  const auto write_template = [&](const std::string& source) {
    packed.settings.chat_template = ModelTemplate::of_file(packed.folder.write("chat_template.jinja", source));
  };
  write_template(
      "{% for t in tools or [] %}<{{ t.function.name }}>{% endfor %}{% for m in messages %}{{ m.role[0] }}:"
      "{{ m.content }}{{ m.tool_calls[0].function.name if m.tool_calls }}<|im_end|>{% endfor %}"
      "{{ 'a:' if add_generation_prompt }}");
  packed.settings.sequence_length = 160;
  const Json ask = message("user", "who"), nay = message("assistant", "nay"),
             calls = {{"role", "assistant"}, {"content", ""}, {"tool_calls", {{{"function", {{"name", "f"}}}}}}};
  packed.run(line({{"tools", {{{"function", {{"name", "f"}}}}}},
                   {"chosen", {ask, nay, ask, calls}},
                   {"rejected", {ask, nay, ask, nay}}}));
  const SequencesBatch batch(packed, 1);
  const std::string asked = "<f>u:who" + end + "a:nay" + end + "u:who" + end;
  CHECK(batch.text(0, 0) == asked + "a:f" + end);
  CHECK(batch.text(0, 1) == asked + "a:nay" + end);
  CHECK(batch.counted(0, 0) == "f" + end);
  CHECK(batch.counted(0, 1) == "nay" + end);

  const auto pair = [&](const Json& chosen, const Json& rejected) {
    return line({{"prompt", Json::array({ask})}, {"chosen", chosen}, {"rejected", rejected}});
  };
  CHECK(contains(packed.refusal(pair(Json::array({nay}), Json::array({nay}))), "[PREF-02]"));
  CHECK(contains(packed.refusal(pair(Json::array({nay}), Json::array({ask}))), "[PREF-02]"));
  CHECK(contains(packed.refusal(pair(Json::array({nay}), Json::array({3}))), "[CHAT-04] "));
  CHECK(contains(packed.refusal(pair(Json::array({nay}), Json::array())), "[CHAT-03] "));
  CHECK(contains(packed.refusal(pair(Json::array({nay}), "no")), "[PREF-01]"));
  write_template("{{ raise_exception('never') }}");
  CHECK(contains(packed.refusal(pair(Json::array({nay}), Json::array({calls}))), "[JINJA-04]"));
}

TEST_CASE("Answers that are too long lose their ends, are left out, or are refused") {
  Packed packed;
  packed.settings.sequence_length = 20;
  const std::string longer(60, 'x');
  const std::string records = texts("p", longer, "b") + texts("p", "b", longer) + texts("p", longer, longer + "y") +
                              texts(longer, "b", "c") + texts("p", "b", "c");
  const PreferencePackSummary summary = packed.run(records);
  CHECK(summary.n_truncated == 3);
  CHECK(summary.n_without_counted == 1);
  CHECK(summary.n_pairs == 4);
  const SequencesBatch batch(packed, 4);
  CHECK(batch.counted(0, 1) == "b" + end);
  CHECK(batch.counted(1, 0) == "b" + end);
  CHECK(std::ranges::count(batch.starts.begin() + 40, batch.starts.begin() + 60, 10) == 10);  // two halves
  packed.settings.too_long = TooLong::skip;
  std::filesystem::remove(packed.output);
  CHECK(packed.run(records).n_too_long == 4);
  packed.settings.too_long = TooLong::refuse;
  CHECK((contains(packed.refusal(records), "[PREF-04]") && contains(packed.refusal(records), "line 1")));
  CHECK(contains(packed.refusal_of_option(texts(longer, "b", "c"),
                                          [](auto& settings) { settings.too_long = TooLong::skip; }),
                 "[PREF-04]"));
}

TEST_CASE("Records without a pair are refused by line, or skipped and listed") {
  Packed packed;
  const std::string good = texts("a", "b", "c");
  const auto refused = [&](const std::string& record, const std::string& id) {
    CAPTURE(record);
    const std::string message = packed.refusal(good + record);
    CHECK((contains(message, id) && contains(message, "line 2")));
  };
  refused(line({{"prompt", "a"}, {"chosen", "b"}}), "[PREF-01]");
  refused(line({{"prompt", "a"}, {"chosen", "b"}, {"rejected", 3}}), "[PREF-01]");
  refused(line({{"prompt", "a"}, {"chosen", {message("user", "b")}}, {"rejected", "c"}}), "--template");
  refused(texts("a", "b", "b"), "[PREF-02]");
  refused(texts("a", "b", " \n"), "[PREF-02]");
  refused(line({{"chosen", "b"}, {"rejected", "b"}}), "[PREF-02]");
  refused(line({{"chosen", "b"}, {"rejected", "b c"}}), "[PREF-02]");
  refused("{\n", "[DATA-02]");
  packed.settings.on_error = OnError::skip;
  const PreferencePackSummary summary = packed.run(good + texts("a", "b", "b") + good);
  CHECK(summary.n_skipped == 1);
  CHECK(summary.n_pairs == 2);
  CHECK(contains(bytes_at(packed.output + ".skipped.jsonl"), "PREF-02"));
  CHECK(contains(packed.refusal_of_option(good, [](auto& settings) { settings.sequence_length = 3; }), "[PREF-03]"));
  CHECK(contains(packed.refusal_of_option(good, [](auto& settings) { settings.end_of_text = "none"; }), "[TOK-06]"));
  Packed chats;
  chats.settings.chat_template = *find_chat_template("chatml");
  CHECK(contains(chats.refusal(good), "without --template"));
  const Json one = {message("assistant", "x")}, broken = {message("nobody", "x")};
  CHECK(contains(chats.refusal(line({{"chosen", one}, {"rejected", one}})), "[PREF-02]"));
  const Json asks = {message("user", "x")};
  CHECK(contains(chats.refusal(line({{"prompt", one}, {"chosen", one}, {"rejected", asks}})), "[PREF-02]"));
  CHECK(contains(chats.refusal(line({{"prompt", one}, {"chosen", one}, {"rejected", broken}})), "[CHAT-04]"));
}

TEST_CASE("Pairs in several files are packed as if they were in one, and a line that is none is named by its own") {
  Packed packed, together;
  const std::string first = texts("a", "b", "c"), then = texts("d", "e", "f");
  const std::vector<std::string> inputs{packed.folder.write("1.jsonl", first), packed.folder.write("2.jsonl", then)};
  CHECK(pack_preferences(inputs, chat_tokenizer(), packed.output, packed.settings).n_pairs == 2);
  together.run(first + then);
  CHECK(bytes_at(packed.output) == bytes_at(together.output));
  CHECK(bytes_at(packed.folder.file("pairs.mask")) == bytes_at(together.folder.file("pairs.mask")));
  packed.folder.write("2.jsonl", then + "{}\n");
  const std::string refusal =
      error_of([&] { pack_preferences(inputs, chat_tokenizer(), packed.output, packed.settings); });
  CHECK(contains(refusal, "2.jsonl\", line 2 (document 2, byte " + std::to_string(then.size())));
}

TEST_CASE("The bytes of a set of preferences do not depend on the number of threads") {
  std::string records;
  for (int i = 0; i < 3000; ++i)
    records += texts("question " + std::to_string(i), " yes " + std::to_string(i * i), " no " + std::to_string(7 * i));
  Packed one, three;
  three.settings.n_threads = 3;
  one.run(records);
  three.run(records);
  CHECK(bytes_at(one.output) == bytes_at(three.output));
  CHECK(bytes_at(one.folder.file("pairs.mask")) == bytes_at(three.folder.file("pairs.mask")));
}

namespace {

TokenDataset dataset_of(const Packed& packed) { return {packed.output, 48, 1 << 20, LastTarget::reused}; }

std::string refusal_of_reference(const Packed& packed) {
  return error_of([&] { EvaluationLoader(packed.output, 48, 1 << 20, with_reference()); });
}

}  // namespace

TEST_CASE("Scores of a reference come with the samples that they are of") {
  const Packed packed;
  packed.run(texts("a", "b", "c") + texts("a", "b b", "c") + texts("a", "b", "c c"));
  const std::vector<double> scores{-1, -2, -3, -4, -5, -6};
  write_reference_scores(dataset_of(packed), 2, scores);
  constexpr std::int64_t B = 2;
  std::vector<std::int32_t> inputs(B * 48), targets(inputs.size()), starts(inputs.size());
  std::vector<double> reference(2 * B, 7);
  const BatchBuffers batch{inputs.data(), targets.data(), starts.data(), reference.data()};
  const EvaluationLoader held_out(packed.output, 48, 1 << 20, with_reference());
  CHECK(held_out.scores_per_sample() == 2);
  held_out.read(1, B, batch);
  CHECK(reference == std::vector<double>{-5, -6, 0, 0});  // there is no fourth sample
  const Loader loader({{packed.output}},
                      {.sequence_length = 48, .vocab_size = 1 << 20, .seed = 3, .contents = with_reference()});
  BatchPrefetcher batches(loader, 0, 1, 1);
  for (int i = 0; i < 9; ++i) {
    const auto next = batches.next();
    REQUIRE(next.reference_BK.size() == 2);
    // Which of the three it is, its tokens tell.
    const auto counted = std::ranges::count_if(next.targets_BT, [](auto id) { return id != ignored_target; });
    const bool second_is_longer = next.document_starts_BT[47] > 0 && next.reference_BK[0] == -5;
    CHECK(next.reference_BK[1] == next.reference_BK[0] - 1);
    CHECK((counted > 4) == (next.reference_BK[0] < -1));
    CHECK((second_is_longer || next.reference_BK[0] > -5));
  }
}

TEST_CASE("Scores that are missing, damaged, or of other samples are refused, and so are sets that are no pairs") {
  const Packed packed;
  packed.run(texts("a", "b", "c") + texts("a", "b b", "c"));
  const std::string path = packed.folder.file("pairs.reference");
  CHECK(contains(refusal_of_reference(packed), "[PREF-06]"));
  write_reference_scores(dataset_of(packed), 2, std::vector<double>{-1, -2, -3, -4});
  CHECK(refusal_of_reference(packed).empty());
  const std::string good = bytes_at(path);
  REQUIRE(good.size() == 48 + 4 * 8);
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    packed.folder.write("pairs.reference", bad);
    const std::string message = refusal_of_reference(packed);
    const bool of_others = 16 <= i && i < 40;
    CHECK(contains(message, of_others ? "[PREF-08]" : "[PREF-07]"));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{47}, good.size() - 1}) {
    packed.folder.write("pairs.reference", good.substr(0, size));
    CHECK(contains(refusal_of_reference(packed), "[PREF-07]"));
  }
  packed.folder.write("pairs.reference", good);
  std::filesystem::remove(packed.output);
  std::filesystem::remove(packed.folder.file("pairs.mask"));
  packed.run(texts("a", "b", "d") + texts("a", "b b", "c"));
  CHECK(contains(refusal_of_reference(packed), "[PREF-08]"));
  std::filesystem::remove(packed.folder.file("pairs.mask"));
  CHECK((contains(refusal_of_reference(packed), "[PREF-05]") &&
         contains(refusal_of_reference(packed), "--sequence-length 48")));
}
