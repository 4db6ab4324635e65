#include "chat_test_support.hpp"

#include <monomorph/data/chat_pack.hpp>
#include <monomorph/data/loader.hpp>
#include <monomorph/data/loss_mask.hpp>

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
    return pack_chats(folder.write("in.jsonl", records), chat_tokenizer(), output, settings);
  }
  std::string refusal(const std::string& records, const ChatPackSettings& settings) const {
    return error_of([&] { run(records, settings); });
  }
};

const std::string reply_end = "<|im_end|>";

}  // namespace

TEST_CASE("A set of chats is, byte for byte, what another program writes") {
  TemporaryFolder folder;
  const ChatPackSummary summary = pack_chats(chat_fixture("set.jsonl"), chat_tokenizer(), folder.file("set.pbin"),
                                             {.chat_template = "chatml", .sequence_length = 48});
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
    const ChatPackSummary summary = packing.run(records, {.chat_template = "chatml", .sequence_length = length});
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
  const ChatPackSummary summary = packing.run(records, {.chat_template = "chatml", .sequence_length = 512});
  CHECK(summary.fill() > 0.99);
  CHECK(summary.n_truncated == 0);
}

TEST_CASE("A chat that is too long loses its end and shifts no neighbour") {
  const std::string records = record("short", "one") + record("long", std::string(500, 'x')) + record("short", "two");
  const Packing packing;
  const ChatPackSummary summary = packing.run(records, {.chat_template = "chatml", .sequence_length = 60});
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
  const ChatPackSettings skip{.chat_template = "chatml", .sequence_length = 60, .too_long = TooLong::skip};
  CHECK(skipping.run(records, skip).n_too_long == 1);
  CHECK(Set(skipping.output).counted_text() == "one" + reply_end + "two" + reply_end);

  const Packing refusing;
  const ChatPackSettings refuse{.chat_template = "chatml", .sequence_length = 60, .too_long = TooLong::refuse};
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
  const ChatPackSummary summary =
      packing.run(unanswered + record("a", "b") + long_question, {.chat_template = "chatml", .sequence_length = 60});
  CHECK(summary.n_without_counted == 2);
  CHECK(summary.n_chats == 1);
  CHECK(summary.n_truncated == 0);
  const std::string error = packing.refusal(unanswered, {.chat_template = "chatml", .sequence_length = 60});
  CHECK(contains(error, "[CHAT-08]"));
  CHECK(contains(error, "of 1 records 0 are broken"));
}

TEST_CASE("Broken records stop the packing or are handed over and left out") {
  const std::string records = record("a", "b") + "{\"messages\": 5}\n\n" + record("c", "d") + record("", "e");
  const Packing packing;
  ChatPackSettings settings{.chat_template = "chatml", .sequence_length = 60};
  CHECK(contains(packing.refusal(records, settings), "line 2"));
  CHECK(packing.folder.n_entries() == 1);
  std::vector<std::string> broken;
  settings.on_broken_record = [&](const std::string& message) { broken.push_back(message); };
  const ChatPackSummary summary = packing.run(records, settings);
  CHECK(summary.n_broken == 3);
  REQUIRE(broken.size() == 3);
  CHECK(contains(broken[0], "[CHAT-03]"));
  CHECK(contains(broken[1], "line 3"));
  CHECK(contains(broken[2], "[CHAT-06]"));
  CHECK(Set(packing.output).counted_text() == "b" + reply_end + "d" + reply_end);
}

TEST_CASE("Settings that cannot be are refused before anything is read") {
  const Packing packing;
  const auto refusal = [&](ChatPackSettings settings) { return packing.refusal(record("a", "b"), settings); };
  CHECK(contains(refusal({.chat_template = "chatml", .sequence_length = 1}), "[CHAT-09]"));
  CHECK(contains(refusal({.chat_template = "chatml", .sequence_length = -5}), "[CHAT-09]"));
  CHECK(contains(refusal({.chat_template = "chatml", .sequence_length = 9, .counted_roles = 0}), "[CHAT-09]"));
  CHECK(contains(refusal({.chat_template = "?", .sequence_length = 9}), "[CHAT-01]"));
  CHECK(contains(packing.refusal("", {.chat_template = "chatml", .sequence_length = 9}), "[DATA-04]"));
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
      pack_chats(packing.folder.file("in.jsonl"), chat_tokenizer(), packing.output,
                 {.chat_template = "chatml", .sequence_length = 128});
    });
    ::_exit(contains(error, "[FILE-0") ? 42 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(packing.folder.n_entries() == 1);
}

TEST_CASE("The loader's samples are those that the chats were laid out in") {
  const Packing packing;
  std::string records;
  for (int i = 0; i < 60; ++i) records += record(std::to_string(i), std::string(5 + static_cast<std::size_t>(i), 'x'));
  const ChatPackSummary summary = packing.run(records, {.chat_template = "chatml", .sequence_length = 96});
  const Loader loader(packing.output, 96, chat_tokenizer().vocab_size(), 1, false);
  REQUIRE(loader.samples_per_epoch() == summary.n_samples);
  std::vector<std::int32_t> inputs(96), targets(96);
  for (std::int64_t i = 0; i < summary.n_samples; ++i) {
    loader.read(i, 1, inputs.data(), targets.data());
    CHECK(chat_tokenizer().decode(inputs).starts_with("<|im_start|>user\n"));
  }
}
