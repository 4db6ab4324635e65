// A model of a folder learns to answer as chats of a real text do, and to end its turns; what it has learnt travels.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/xxh64.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <span>
#include <sstream>

using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

/// What a program prints. Models so small are fastest on one thread.
std::string printed(const Arguments& command) {
  const ProcessResult result = run_process(command, {{"OMP_NUM_THREADS", "1"}});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}
std::string printed(const std::string& name, const Arguments& arguments) {
  return printed(with(Arguments{program(name)}, arguments));
}

/// The template of the model. The token that ends turns by it is known to nobody else.
const std::string template_of_talk =
    "{% for m in messages %}{{ ('<|you|>' if m.role == 'user' else '<|me|>') + m.content + '<|over|>' }}{% endfor %}"
    "{{ '<|me|>' if add_generation_prompt }}";

/// What is said in one line in Shakespeare's plays, each with what is answered to it in one line.
std::vector<std::pair<std::string, std::string>> exchanges(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> found;
  std::string before;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 2) {
    end = text.find("\n\n", begin);
    const std::string speech = text.substr(begin, end == std::string::npos ? end : end - begin);
    const std::size_t line = speech.find('\n');
    const bool one_line = line != std::string::npos && speech.find('\n', line + 1) == std::string::npos;
    const std::string words = one_line ? speech.substr(line + 1) : "";
    if (!before.empty() && !words.empty() && before.size() + words.size() <= 60) found.emplace_back(before, words);
    before = words;
  }
  return found;
}

/// A folder as models are published in, of a model that has read but not talked; and chats in two files and held-out
/// ones, packed by the model's template.
struct Talk : Workplace {
  Talk() : Workplace("tiny_llama") {
    const std::string text = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt");
    write_bytes(*this / "read.txt", text.substr(0, 300'000));
    printed("monomorph-data", {"train-tokenizer", *this / "read.txt", "--vocab-size", "512", "--special",
                               "<|endoftext|>", "--special", "<|you|>", "--special", "<|me|>", "--special", "<|over|>",
                               "--output", *this / "tokenizer.json", "--force"});
    printed("monomorph-data",
            {"pack", *this / "read.txt", "--tokenizer", *this / "tokenizer.json", "--output", *this / "read.pbin"});
    printed("tiny_llama", training("read", {"data.train=" + (*this / "read.pbin"), "data.evaluation=", "run.steps=200",
                                            "batch.micro_batch=8", "optimizer.lr=0.01"}));
    printed("tiny_llama", {"export", "--checkpoint", *this / "read", "--output", *this / "model"});
    write_bytes(*this / "model/chat_template.jinja", template_of_talk);
    printed("tiny_llama", {"import", *this / "model", "--output", *this / "imported"});
    write_chats(exchanges(text));
    pack({*this / "chats_?.jsonl"}, "chats.pbin");
    pack({*this / "new_chats.jsonl"}, "new_chats.pbin");
  }

  Arguments tuning(const std::vector<std::string>& sets) const {
    const std::vector<std::string> common{"weights.from=" + (*this / "imported"),
                                          "data.train=" + (*this / "chats.pbin"),
                                          "data.evaluation=" + (*this / "new_chats.pbin"),
                                          "data.tokenizer=" + (*this / "imported/tokenizer.json"),
                                          "batch.micro_batch=8"};
    return training("tuned", with(common, sets));
  }
  /// Of the held-out chats.
  double loss(const std::string& recipe, const std::string& checkpoint) const {
    const std::string said =
        printed(recipe, {"evaluate", "--checkpoint", *this / checkpoint, "--data", *this / "new_chats.pbin"});
    REQUIRE(said.starts_with("loss "));
    return std::stod(said.substr(5));
  }
  /// The share of the held-out questions that are answered by a turn that ends within a dozen tokens.
  double ended(const std::string& recipe, const std::string& checkpoint) const {
    std::istringstream lines(printed(recipe, {"generate", "--checkpoint", *this / checkpoint, "--input",
                                              *this / "prompts.jsonl", "--max-tokens", "12", "--greedy"}));
    int n = 0, n_ended = 0;
    for (std::string line; std::getline(lines, line); ++n)
      n_ended += Json::parse(line).at("finish_reason") == "stop" ? 1 : 0;
    REQUIRE(n > 40);
    return static_cast<double>(n_ended) / n;
  }

 private:
  static std::string chat_of(const std::pair<std::string, std::string>& exchange) {
    return Json{{"messages",
                 {{{"role", "user"}, {"content", exchange.first}},
                  {{"role", "assistant"}, {"content", exchange.second}}}}}
               .dump() +
           "\n";
  }
  /// The last ninth is held out.
  void write_chats(const std::vector<std::pair<std::string, std::string>>& all) const {
    REQUIRE(all.size() > 500);
    std::string chats[3], prompts;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool held_out = i >= all.size() * 8 / 9;
      chats[held_out ? 2 : i % 2] += chat_of(all[i]);
      if (held_out) prompts += Json{{"prompt", "<|you|>" + all[i].first + "<|over|><|me|>"}}.dump() + "\n";
    }
    write_bytes(*this / "chats_1.jsonl", chats[0]);
    write_bytes(*this / "chats_2.jsonl", chats[1]);
    write_bytes(*this / "new_chats.jsonl", chats[2]);
    write_bytes(*this / "prompts.jsonl", prompts);
  }
  void pack(const Arguments& inputs, const std::string& output) const {
    printed("monomorph-data",
            with(Arguments{"chat", "--tokenizer", *this / "imported/tokenizer.json", "--sequence-length", "32",
                           "--on-too-long", "skip", "--output", *this / output},
                 inputs));
  }
};

template <class Number> Number number_at(const std::string& bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}
template <class Number> void put_number(std::string& bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

/// Writes the set `from` with other tokens wherever nothing that counts can depend on them: behind the last one of each
/// sample that counts as a target. Its mask is of the new tokens, as docs/reference/chat.md has the form of both files.
/// @return how many tokens are others
int change_what_counts_for_nothing(const Talk& place, const std::string& from, const std::string& to) {
  constexpr std::size_t tokens_at = 12, bits_at = 72, tokens_hash_at = 40, hash_at = 64, sequence_length = 32;
  using Id = std::uint16_t;
  std::string tokens = read_bytes(place / (from + ".pbin")), mask = read_bytes(place / (from + ".mask"));
  const auto n_bytes = number_at<std::uint64_t>(tokens, 0);
  REQUIRE(number_at<std::uint32_t>(tokens, 8) == sizeof(Id));
  const auto counts = [&](std::size_t token) { return (mask[bits_at + token / 8] >> token % 8 & 1) != 0; };
  int n_changed = 0;
  for (std::size_t first = 0; first + sequence_length < n_bytes / sizeof(Id); first += sequence_length) {
    const std::size_t end = first + sequence_length;  // its last target, and the first input of the next sample
    std::size_t last_counted = end;
    while (last_counted > first && !counts(last_counted)) --last_counted;
    for (std::size_t token = last_counted + 1; token < end; ++token) {
      const std::size_t at = tokens_at + token * sizeof(Id);
      put_number<Id>(tokens, at, static_cast<Id>((number_at<Id>(tokens, at) + token) % 512));
      ++n_changed;
    }
  }
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  put_number(mask, tokens_hash_at, monomorph::xxh64(bytes(tokens).subspan(tokens_at, n_bytes)));
  put_number(mask, hash_at, monomorph::xxh64(bytes(mask.substr(bits_at) + mask.substr(0, hash_at))));
  write_bytes(place / (to + ".pbin"), tokens);
  write_bytes(place / (to + ".mask"), mask);
  return n_changed;
}

/// What a run has learnt, in bits, and from what.
std::string learnt(const Talk& place, const std::string& run) {
  std::string text = printed("monomorph-checkpoint", {"digest", place / run});
  for (const char* const name : {"loss", "grad_norm", "tokens", "evaluation_loss", "evaluation_tokens"}) {
    const auto values = metric(place / run, name);
    CHECK_FALSE(values.empty());
    for (const auto& [step, value] : values) text += std::to_string(step) + " " + name + " " + value + "\n";
  }
  return text;
}

/// That masked tokens count for nothing, and that two ranks learn what one does: for some steps, in bits.
void check_masks_and_ranks(const Talk& place, const std::string& recipe, const std::vector<std::string>& sets) {
  const auto train = [&](const std::string& name, const std::string& ranks, const std::string& prefix) {
    const std::string run = recipe + "_" + name;
    printed(recipe, with(with(Arguments{"--ranks", ranks}, place.tuning(sets)),
                         {"--set", "run.output_dir=" + (place / run), "--set", "run.steps=5", "--set",
                          "data.train=" + (place / (prefix + "chats.pbin")), "--set",
                          "data.evaluation=" + (place / (prefix + "new_chats.pbin")), "--set", "batch.micro_batch=2",
                          "--set", "batch.reduction=fixed_tree"}));
    return learnt(place, run);
  };
  const std::string one = train("one", "1", "");
  CHECK(train("two", "2", "") == one);
  CHECK(train("other", "1", "other_") == one);
}

}  // namespace

TEST_CASE("a model of a folder, tuned on chats as a whole or by adapters, answers better, and ends its turns") {
  const Talk place;
  const double before = place.loss("tiny_llama", "imported");
  CHECK(place.ended("tiny_llama", "imported") < 0.1);
  printed("tiny_llama", place.tuning({"run.output_dir=" + (place / "whole"), "run.steps=60", "optimizer.lr=0.005"}));
  CHECK(place.loss("tiny_llama", "whole") < before - 1);
  CHECK(place.ended("tiny_llama", "whole") > 0.9);

  const std::string recipe = "tiny_llama_lora";
  printed(recipe, place.tuning({"run.output_dir=" + (place / "adapted"), "run.steps=100", "optimizer.lr=0.02"}));
  const double after = place.loss(recipe, "adapted");
  CHECK(after < before - 1);
  CHECK(place.ended(recipe, "adapted") > 0.7);

  // Exported, with what was learnt merged, and imported again, it is the same, and has its template with it.
  printed(recipe, {"export", "--checkpoint", place / "adapted", "--output", place / "merged"});
  CHECK(read_bytes(place / "merged/chat_template.jinja") == template_of_talk);
  printed("tiny_llama", {"import", place / "merged", "--output", place / "again"});
  CHECK(place.loss("tiny_llama", "again") == Approx(after).epsilon(1e-4));
  const auto said = [&](const Arguments& more) {
    const Arguments arguments{"chat", "--checkpoint", place / "again", "--greedy", "--max-tokens", "12"};
    return printed(bash("printf 'Farewell.\\n' | \"$@\"", command(place, with(arguments, more))));
  };
  const std::string answer = said({});
  CHECK_FALSE(contains(answer, "<|"));
  CHECK(said({"--template", place / "model"}) == answer);
}

TEST_CASE("adapters beside NF4, and a student of a model that talks, learn from chats what their mask counts alone") {
  const Talk place;
  CHECK(change_what_counts_for_nothing(place, "chats", "other_chats") > 1000);
  CHECK(change_what_counts_for_nothing(place, "new_chats", "other_new_chats") > 100);

  const std::string adapters = "tiny_llama_qlora";
  const std::vector<std::string> tuned{"optimizer.lr=0.02"};
  check_masks_and_ranks(place, adapters, tuned);
  const double before = place.loss("tiny_llama", "imported");
  printed(adapters, place.tuning(with(tuned, {"run.output_dir=" + (place / "adapted"), "run.steps=50"})));
  CHECK(place.loss(adapters, "adapted") < before - 1);

  printed("tiny_llama", place.tuning({"run.output_dir=" + (place / "teacher"), "run.steps=60", "optimizer.lr=0.005"}));
  const std::string student = "tiny_distillation";
  const std::vector<std::string> taught{"weights.from=", "teacher.from=" + (place / "teacher"), "optimizer.lr=0.01"};
  check_masks_and_ranks(place, student, taught);
  printed(student,
          place.tuning(with(taught, {"run.output_dir=" + (place / "student"), "run.steps=80", "evaluation.every=8"})));
  const auto losses = metric_values(place / "student", "evaluation_loss"),
             divergences = metric_values(place / "student", "evaluation_divergence");
  CHECK(losses.at(80) < losses.at(8) - 1);
  CHECK(divergences.at(80) < divergences.at(8) / 2);
}
