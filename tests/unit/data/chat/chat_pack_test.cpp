#include "unit/data/chat_test_support.hpp"

#include <monomorph/data/chat/chat_pack.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <map>
#include <numeric>
#include <random>

using namespace monomorph::data;

namespace {

std::string record(const std::string& question, const std::string& answer) {
  return nlohmann::json{
             {"messages", {{{"role", "user"}, {"content", question}}, {{"role", "assistant"}, {"content", answer}}}}}
             .dump() +
         "\n";
}

/// A packed set, taken apart again.
struct Set {
  PackedFile file;
  LossMask mask;
  std::vector<std::int32_t> ids;

  explicit Set(const std::string& path) : file(path), mask(LossMask::beside(file).value()) {
    ids.resize(static_cast<std::size_t>(file.n_tokens()));
    file.read(0, ids);
  }
  std::string text(std::size_t begin, std::size_t size) const {
    return chat_tokenizer().decode(std::span(ids).subspan(begin, size));
  }
  std::string counted_text() const {
    std::vector<std::int32_t> counted;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (mask.counts(static_cast<std::int64_t>(i))) counted.push_back(ids[i]);
    }
    return chat_tokenizer().decode(counted);
  }
};

struct Packing {
  TemporaryFolder folder;
  std::string output = folder.file("out.pbin");
  ChatPackSummary run(const std::string& records, const ChatPackSettings& settings) const {
    return pack_chats({folder.write("in.jsonl", records)}, chat_tokenizer(), output, settings);
  }
  std::string refusal(const std::string& records, const ChatPackSettings& settings) const {
    return error_of([&] { run(records, settings); });
  }
};

const std::string reply_end = "<|im_end|>";

}  // namespace

TEST_CASE("A set of chats is, byte for byte, what another program writes") {
  TemporaryFolder folder;
  const ChatPackSummary summary = pack_chats({chat_fixture("set.jsonl")}, chat_tokenizer(), folder.file("set.pbin"),
                                             {.chat_template = *find_chat_template("chatml"), .sequence_length = 48});
  CHECK(monomorph::read_text_file(folder.file("set.pbin")) == monomorph::read_text_file(chat_fixture("set.pbin")));
  CHECK(monomorph::read_text_file(folder.file("set.mask")) == monomorph::read_text_file(chat_fixture("set.mask")));
  CHECK(summary.n_records == 10);
  CHECK(summary.n_chats == 10);
  CHECK(summary.n_samples == 8);
  CHECK(summary.n_tokens == 8 * 48 + 1);
  CHECK(summary.n_counted == 122);
  CHECK(folder.n_entries() == 2);
}

TEST_CASE("Each chat is whole in one sample, whatever their lengths") {
  std::mt19937 random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t length = 24 + static_cast<std::int64_t>(random() % 100);
    std::string records;
    const int n_chats = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < n_chats; ++i) records += record(std::to_string(i), std::string(1 + random() % 60, 'x'));
    const Packing packing;
    const ChatPackSummary summary =
        packing.run(records, {.chat_template = *find_chat_template("chatml"), .sequence_length = length});
    const Set set(packing.output);
    REQUIRE(summary.n_chats == n_chats);
    REQUIRE(set.file.n_tokens() == summary.n_samples * length + 1);
    REQUIRE(set.mask.header().n_counted == static_cast<std::uint64_t>(summary.n_counted));
    std::map<std::string, int> seen;
    std::uint64_t end = 0;
    for (const DocumentSpan& document : set.file.documents()) {
      const auto begin = document.offset / 2, size = document.length / 2;
      REQUIRE(document.offset == end);
      end += document.length;
      const auto last = begin + size - 1;
      const bool final_token = last + 1 == set.ids.size();
      REQUIRE(begin / length == (last - (final_token ? 1 : 0)) / length);
      ++seen[set.text(begin, 8)];
      REQUIRE(set.text(begin, size).starts_with("<|im_start|>user\n"));
      REQUIRE_FALSE(set.mask.counts(static_cast<std::int64_t>(begin)));
    }
    REQUIRE(end == set.ids.size() * 2);
    REQUIRE(std::accumulate(seen.begin(), seen.end(), 0, [](int n, const auto& e) { return n + e.second; }) == n_chats);
    REQUIRE_FALSE(set.mask.counts(set.file.n_tokens() - 1));
  }
}

TEST_CASE("Short chats share samples, and the samples are nearly full") {
  std::mt19937 random(6);
  std::string records;
  for (int i = 0; i < 3000; ++i) records += record("q", std::string(1 + random() % 200, '.'));
  const Packing packing;
  const ChatPackSummary summary =
      packing.run(records, {.chat_template = *find_chat_template("chatml"), .sequence_length = 512});
  CHECK(summary.fill() > 0.99);
  CHECK(summary.n_truncated == 0);
}

TEST_CASE("A chat that is too long loses its end and shifts no neighbour") {
  const std::string records = record("short", "one") + record("long", std::string(500, 'x')) + record("short", "two");
  const Packing packing;
  const ChatPackSummary summary =
      packing.run(records, {.chat_template = *find_chat_template("chatml"), .sequence_length = 60});
  CHECK(summary.n_truncated == 1);
  CHECK(summary.n_samples == 2);
  const Set set(packing.output);
  CHECK(
      set.text(0, 60).starts_with("<|im_start|>user\nshort<|im_end|>\n<|im_start|>assistant\none<|im_end|>\n"
                                  "<|im_start|>user\nshort<|im_end|>\n<|im_start|>assistant\ntwo<|im_end|>\n"));
  const std::string long_chat = set.text(60, 60);
  CHECK(long_chat.starts_with("<|im_start|>user\nlong<|im_end|>\n<|im_start|>assistant\nxx"));
  CHECK(long_chat.ends_with("xx"));
  CHECK(set.counted_text().starts_with("one" + reply_end + "two" + reply_end + "xx"));

  const Packing skipping;
  const ChatPackSettings skip{.chat_template = *find_chat_template("chatml"),
                              .sequence_length = 60,
                              .too_long = TooLong::skip};
  CHECK(skipping.run(records, skip).n_too_long == 1);
  CHECK(Set(skipping.output).counted_text() == "one" + reply_end + "two" + reply_end);

  const Packing refusing;
  const ChatPackSettings refuse{.chat_template = *find_chat_template("chatml"),
                                .sequence_length = 60,
                                .too_long = TooLong::refuse};
  const std::string error = refusing.refusal(records, refuse);
  CHECK(contains(error, "[CHAT-07]"));
  CHECK(contains(error, "line 2"));
  CHECK(refusing.folder.n_entries() == 1);
}

TEST_CASE("A chat in which nothing counts is left out and counted") {
  const std::string unanswered = R"({"messages": [{"role": "user", "content": "anyone?"}]})"
                                 "\n";
  const std::string long_question = record(std::string(300, 'q'), "too late");
  const Packing packing;
  const ChatPackSummary summary = packing.run(unanswered + record("a", "b") + long_question,
                                              {.chat_template = *find_chat_template("chatml"), .sequence_length = 60});
  CHECK(summary.n_without_counted == 2);
  CHECK(summary.n_chats == 1);
  CHECK(summary.n_truncated == 0);
  const std::string error =
      packing.refusal(unanswered, {.chat_template = *find_chat_template("chatml"), .sequence_length = 60});
  CHECK(contains(error, "[CHAT-08]"));
  CHECK(contains(error, "of 1 lines 0 are no chats"));
}

TEST_CASE("Lines that are no chats stop the packing, or are listed and left out") {
  const std::string records = record("a", "b") + "{\"messages\": 5}\n\n" + record("c", "d") + record("", "e");
  const Packing packing;
  ChatPackSettings settings{.chat_template = *find_chat_template("chatml"), .sequence_length = 60};
  CHECK(contains(packing.refusal(records, settings), "in.jsonl\", line 2"));
  CHECK(packing.folder.n_entries() == 1);
  settings.on_error = OnError::skip;
  settings.report = packing.folder.file("report");
  const ChatPackSummary summary = packing.run(records, settings);
  CHECK(summary.n_skipped == 3);
  CHECK(summary.n_records == 5);
  CHECK(Set(packing.output).counted_text() == "b" + reply_end + "d" + reply_end);
  std::istringstream report(monomorph::read_text_file(settings.report));
  std::string found;
  for (std::string line; std::getline(report, line);) {
    const auto object = nlohmann::json::parse(line);
    found += std::to_string(object["line"].get<int>()) + " " + object["error"].get<std::string>() + " ";
  }
  CHECK(found == "2 CHAT-03 3 DATA-02 5 CHAT-06 ");
  CHECK(contains(packing.refusal("{}\n\n", settings), "[DATA-21]"));
  CHECK(monomorph::read_text_file(settings.report).find("\"line\":5") != std::string::npos);  // that of the run before
}

TEST_CASE("The bytes do not depend on the number of threads") {
  std::mt19937 random(7);
  std::string records;
  for (int i = 0; records.size() < (3u << 20); ++i) {
    records += i % 50 == 7 ? "{}\n" : record(std::to_string(i), std::string(1 + random() % 900, 'x'));
  }
  const Packing packing;
  ChatPackSettings settings{.chat_template = *find_chat_template("zephyr"),
                            .sequence_length = 200,
                            .on_error = OnError::skip};
  const ChatPackSummary one = packing.run(records, settings);
  CHECK(one.n_truncated > 0);
  const std::string tokens = monomorph::read_text_file(packing.output);
  const std::string mask = monomorph::read_text_file(packing.folder.file("out.mask"));
  settings.n_threads = 4;
  const ChatPackSummary four = packing.run(records, settings);
  CHECK(monomorph::read_text_file(packing.output) == tokens);
  CHECK(monomorph::read_text_file(packing.folder.file("out.mask")) == mask);
  CHECK(four.n_skipped == one.n_skipped);
}

TEST_CASE("Settings that cannot be are refused before anything is read") {
  const Packing packing;
  const auto refusal = [&](ChatPackSettings settings) { return packing.refusal(record("a", "b"), settings); };
  CHECK(contains(refusal({.chat_template = *find_chat_template("chatml"), .sequence_length = 1}), "[CHAT-09]"));
  CHECK(contains(refusal({.chat_template = *find_chat_template("chatml"), .sequence_length = -5}), "[CHAT-09]"));
  CHECK(contains(refusal({.chat_template = *find_chat_template("chatml"), .sequence_length = 9, .counted_roles = 0}),
                 "[CHAT-09]"));
  CHECK(contains(packing.refusal("", {.chat_template = *find_chat_template("chatml"), .sequence_length = 9}),
                 "[DATA-04]"));
  CHECK(packing.folder.n_entries() == 1);
}

TEST_CASE("A full disk leaves neither the tokens nor the mask") {
  const Packing packing;
  std::string records;
  for (int i = 0; i < 4000; ++i) records += record("q", std::string(100, static_cast<char>('a' + i % 26)));
  packing.folder.write("in.jsonl", records);
  chat_tokenizer();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = error_of([&] {
      pack_chats({packing.folder.file("in.jsonl")}, chat_tokenizer(), packing.output,
                 {.chat_template = *find_chat_template("chatml"), .sequence_length = 128});
    });
    ::_exit(contains(error, "[FILE-0") ? 42 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(packing.folder.n_entries() == 1);
}

TEST_CASE("The loader's samples are those that the chats were laid out in, with the targets that count") {
  const Packing packing;
  std::string records;
  for (int i = 0; i < 60; ++i) records += record(std::to_string(i), std::string(5 + static_cast<std::size_t>(i), 'x'));
  const std::int64_t T = 96;
  const ChatPackSummary summary =
      packing.run(records, {.chat_template = *find_chat_template("chatml"), .sequence_length = T});
  const Set set(packing.output);
  const Loader loader({{packing.output, 1}}, {.sequence_length = T,
                                              .vocab_size = chat_tokenizer().vocab_size(),
                                              .shuffle = false,
                                              .contents = {.document_starts = true}});
  REQUIRE(loader.set(0).n_samples() == summary.n_samples);
  std::vector<std::int32_t> inputs(T), targets(T), starts(T);
  std::vector<std::int32_t> counted;
  for (std::int64_t i = 0; i < summary.n_samples; ++i) {
    loader.read(i, 1, {inputs.data(), targets.data(), starts.data()});
    CHECK(chat_tokenizer().decode(inputs).starts_with("<|im_start|>user\n"));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const std::size_t at = static_cast<std::size_t>(i * T) + t + 1;
      CHECK(targets[t] == (set.mask.counts(static_cast<std::int64_t>(at)) ? set.ids[at] : monomorph::ignored_target));
      if (targets[t] != monomorph::ignored_target) counted.push_back(targets[t]);
      // Whatever counts is predicted from its own chat.
      if (targets[t] != monomorph::ignored_target && t + 1 < targets.size()) CHECK(starts[t] == starts[t + 1]);
    }
  }
  CHECK(static_cast<std::int64_t>(counted.size()) == summary.n_counted);
  CHECK(chat_tokenizer().decode(counted) == set.counted_text());
}

TEST_CASE("Evaluation counts what the mask counts, and other samples than those of the mask are refused") {
  const Packing packing;
  std::string records;
  for (int i = 0; i < 20; ++i) records += record("q", std::string(5 + static_cast<std::size_t>(i), 'x'));
  const ChatPackSummary summary =
      packing.run(records, {.chat_template = *find_chat_template("chatml"), .sequence_length = 64});
  const std::int32_t vocab_size = chat_tokenizer().vocab_size();
  const EvaluationLoader loader(packing.output, 64, vocab_size);
  std::vector<std::int32_t> inputs(3 * 64), targets(3 * 64);
  std::int64_t n_counted = 0;
  for (std::int64_t batch = 0; batch < loader.n_batches(3); ++batch) {
    loader.read(batch, 3, {inputs.data(), targets.data()});
    n_counted += std::count_if(targets.begin(), targets.end(), [](auto id) { return id != monomorph::ignored_target; });
  }
  CHECK(n_counted == summary.n_counted);

  const Set set(packing.output);
  const EvaluationLoader of_themselves(packing.output, 64, vocab_size, {.target = TargetToken::itself});
  CHECK(of_themselves.n_counted() == static_cast<std::int64_t>(set.mask.header().n_counted));
  of_themselves.read(0, 3, {inputs.data(), targets.data()});
  for (std::size_t t = 0; t < targets.size(); ++t)
    CHECK(targets[t] == (set.mask.counts(static_cast<std::int64_t>(t)) ? inputs[t] : monomorph::ignored_target));

  const auto refusal = [&](std::int64_t length, LastTarget last_target) {
    return error_of([&] { TokenDataset(packing.output, length, vocab_size, last_target); });
  };
  CHECK(refusal(64, LastTarget::reused).empty());
  CHECK(contains(refusal(32, LastTarget::reused), "[CHAT-12]"));
  CHECK(contains(refusal(64, LastTarget::separate), "[CHAT-12]"));
  packing.folder.write("out.mask", "monomask");
  CHECK(contains(refusal(64, LastTarget::reused), "[CHAT-10]"));
}
