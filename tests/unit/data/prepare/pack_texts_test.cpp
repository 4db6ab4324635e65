#include "unit/data/chat_test_support.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>
#include <monomorph/data/prepare/pack_texts.hpp>

using namespace monomorph::data;
using monomorph::ignored_target;

namespace {

std::string pair_record(const std::string& query, const std::string& positive) {
  return nlohmann::json{{"query", query}, {"positive", positive}}.dump() + "\n";
}

struct TextsPacking {
  TemporaryFolder folder;
  std::string output = folder.file("pairs.pbin");
  PackTextsSummary run(const std::string& records, const PackTextsSettings& settings) const {
    return pack_texts({folder.write("in.jsonl", records)}, chat_tokenizer(), output, settings);
  }
  std::string refusal(const std::string& records, const PackTextsSettings& settings) const {
    return error_of([&] { run(records, settings); });
  }
};

/// What a run reads of a set.
struct TextsBatch {
  std::vector<std::int32_t> inputs, targets, starts;
  TextsBatch(const std::string& path, std::int64_t T, std::int64_t samples)
      : inputs(static_cast<std::size_t>(samples * T)), targets(inputs.size()), starts(inputs.size()) {
    const BatchContents contents{.document_starts = true, .target = TargetToken::itself, .texts_per_sample = 2};
    EvaluationLoader(path, T, 1 << 20, contents).read(0, samples, {inputs.data(), targets.data(), starts.data()});
  }
  /// The text of all tokens of a sample with this target.
  std::string text(std::int64_t T, std::int64_t sample, std::int32_t target) const {
    std::vector<std::int32_t> ids;
    for (std::int64_t t = sample * T; t < (sample + 1) * T; ++t)
      if (targets[static_cast<std::size_t>(t)] == target) ids.push_back(inputs[static_cast<std::size_t>(t)]);
    return chat_tokenizer().decode(ids);
  }
};

}  // namespace

TEST_CASE("A pair is a sample: two documents, each with its number, and padding that is a third") {
  const TextsPacking packing;
  const PackTextsSummary summary =
      packing.run(pair_record("who is there", "nay answer me") + pair_record("a", "long live the king"),
                  {.sequence_length = 40});
  CHECK(summary.n_records == 2);
  CHECK(summary.n_samples == 2);
  CHECK(summary.n_cut == 0);
  CHECK(summary.n_tokens == 80);
  const TextsBatch batch(packing.output, 40, 3);  // one more than there are
  CHECK(batch.text(40, 0, 0) == "who is there");
  CHECK(batch.text(40, 0, 1) == "nay answer me");
  CHECK(batch.text(40, 1, 0) == "a");
  CHECK(batch.text(40, 1, 1) == "long live the king");
  for (std::size_t t = 0; t < 120; ++t) {
    CAPTURE(t);
    const auto place = static_cast<std::int32_t>(t % 40);
    const bool begins = place == 0 || (t < 80 && batch.targets[t] != batch.targets[t - 1]);
    CHECK(batch.starts[t] == (begins ? place : batch.starts[t - 1]));
    if (t >= 80) CHECK(batch.targets[t] == ignored_target);
  }
}

TEST_CASE("Texts that are too long together lose their ends, the longest first, and are counted") {
  const TextsPacking packing;
  const std::string line(200, 'x');
  const PackTextsSummary summary =
      packing.run(pair_record(line, "b") + pair_record("b", line) + pair_record(line, line) + pair_record("b", "c"),
                  {.sequence_length = 16});
  CHECK(summary.n_cut == 3);
  CHECK(summary.n_samples == 4);
  const TextsBatch batch(packing.output, 16, 4);
  CHECK(batch.text(16, 0, 1) == "b");
  CHECK(batch.text(16, 1, 0) == "b");
  CHECK(batch.text(16, 2, 0) == batch.text(16, 2, 1));
  CHECK(std::ranges::count(batch.targets.begin() + 32, batch.targets.begin() + 48, 0) == 8);
  CHECK(std::ranges::count(batch.targets.begin(), batch.targets.begin() + 16, ignored_target) == 0);
}

TEST_CASE("Records without both texts are refused by line, or skipped and listed") {
  const TextsPacking packing;
  const PackTextsSettings stop{.sequence_length = 16};
  const std::string good = pair_record("a", "b");
  CHECK(contains(packing.refusal(good + R"({"query": "a"})"
                                        "\n",
                                 stop),
                 "[PAIRS-01]"));
  CHECK(contains(packing.refusal(good + R"({"query": "a"})"
                                        "\n",
                                 stop),
                 "line 2"));
  CHECK(contains(packing.refusal(R"({"query": "a", "positive": 3})"
                                 "\n",
                                 stop),
                 "[PAIRS-01]"));
  CHECK(contains(packing.refusal(pair_record("a", " \n"), stop), "[PAIRS-02]"));
  CHECK(contains(packing.refusal("[1", stop), "[DATA-"));
  CHECK(contains(packing.refusal("", stop), "[DATA-04]"));
  const PackTextsSummary summary =
      packing.run("{}\n" + good + pair_record("", "b"), {.sequence_length = 16, .on_error = OnError::skip});
  CHECK(summary.n_skipped == 2);
  CHECK(summary.n_samples == 1);
  CHECK(contains(bytes_at(packing.output + ".skipped.jsonl"), "PAIRS-02"));
}

TEST_CASE("Settings that cannot be are refused, and other fields may be named") {
  const TextsPacking packing;
  const std::string good = pair_record("a", "b");
  CHECK(contains(packing.refusal(good, {.sequence_length = 1}), "[PAIRS-03]"));
  CHECK(contains(packing.refusal(good, {.fields = {"/query"}, .sequence_length = 16}), "[PAIRS-03]"));
  const PackTextsSummary summary = packing.run(R"({"a": {"b": "one"}, "c": "two", "d": "three"})"
                                               "\n",
                                               {.fields = {"/a/b", "/c", "/d"}, .sequence_length = 32});
  CHECK(summary.n_samples == 1);
  CHECK(contains(error_of([&] { TextsBatch(packing.output, 32, 1); }), "[PAIRS-04]"));  // of three texts, not of two
}

TEST_CASE("A set that was not made of pairs, or for another length, is refused before it is read") {
  const TextsPacking packing;
  packing.run(pair_record("a", "b"), {.sequence_length = 16});
  CHECK(contains(error_of([&] { TextsBatch(packing.output, 8, 1); }), "[CHAT-12]"));
  const TemporaryFolder folder;
  const std::string chats = folder.file("chats.pbin");
  for (const std::string set : {"set.pbin", "set.mask"})
    folder.write("chats" + set.substr(3), bytes_at(chat_fixture(set)));
  CHECK(contains(error_of([&] { TextsBatch(chats, 48, 1); }), "[PAIRS-04]"));
  std::filesystem::remove(folder.file("chats.mask"));
  const std::string error = error_of([&] { TextsBatch(chats, 48, 1); });
  CHECK((contains(error, "[PAIRS-04]") && contains(error, "chats.pbin") && contains(error, "monomorph-data pairs")));
  const LoaderSettings settings{.sequence_length = 48,
                                .vocab_size = 1 << 20,
                                .contents = {.document_starts = true,
                                             .target = TargetToken::itself,
                                             .texts_per_sample = 2}};
  CHECK(contains(error_of([&] { Loader({{chats}}, settings); }), "[PAIRS-04]"));
}

TEST_CASE("The bytes of a set of pairs do not depend on the number of threads") {
  std::string records;
  for (int i = 0; i < 5000; ++i) records += pair_record("query " + std::to_string(i), std::string(1 + i % 40, 'y'));
  const TextsPacking one, three;
  one.run(records, {.sequence_length = 24});
  three.run(records, {.sequence_length = 24, .n_threads = 3});
  CHECK(bytes_at(one.output) == bytes_at(three.output));
  CHECK(bytes_at(one.folder.file("pairs.mask")) == bytes_at(three.folder.file("pairs.mask")));
}
