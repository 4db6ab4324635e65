// Texts over a pass that recites: what comes behind n tokens is token n of a script, whatever the tokens are.
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"
#include "train/inference/conversation.hpp"
#include "train/inference/stop_ids.hpp"

#include <monomorph/data/text/utf8.hpp>
#include <monomorph/train/inference/generate.hpp>

#include <map>
#include <numeric>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

constexpr std::int64_t context_length = 32;
const std::string tokenizers = MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/";

class RecitingPass final : public TokenPass {
 public:
  /// @param passes is told how many tokens go through in each   @param context that the model has
  RecitingPass(const PassSizes& sizes, std::vector<std::int32_t> script, std::int64_t vocab_size,
               std::vector<std::int64_t>& passes, std::int64_t context = context_length)
      : passes_(passes),
        sizes_(sizes),
        script_(std::move(script)),
        vocab_size_(vocab_size),
        context_(context),
        logits_(static_cast<std::size_t>(sizes.wanted * vocab_size)) {}
  PassSizes sizes() const override { return sizes_; }
  PassLimits limits() const override { return {context_, vocab_size_}; }
  View run(const NewTokens& tokens) override {
    passes_.push_back(tokens.places.tokens);
    std::fill(logits_.begin(), logits_.end(), 0.0f);
    for (std::size_t row = 0; row < tokens.wanted.size(); ++row) {
      const auto n = static_cast<std::size_t>(tokens.places.position(tokens.wanted[row])) + 1;
      logits_[row * static_cast<std::size_t>(vocab_size_) + static_cast<std::size_t>(script_[n % script_.size()])] = 20;
    }
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::fp32, {std::ssize(tokens.wanted), vocab_size_}};
  }

 private:
  std::vector<std::int64_t>& passes_;
  PassSizes sizes_;
  std::vector<std::int32_t> script_;
  std::int64_t vocab_size_, context_;
  std::vector<float> logits_;
};

/// What became of prompts of these lengths.
struct Written {
  std::map<std::uint32_t, GeneratedText> texts;
  std::map<std::uint32_t, std::vector<std::string>> pieces;
  std::vector<std::int64_t> passes;
  std::int64_t pages_left = 0;
};
struct Machine {
  std::unique_ptr<const data::Tokenizer> tokenizer = data::read_tokenizer(tokenizers + "qwen2.json");
  std::int64_t sequences = 2, pages = 2 * pages_of(context_length);

  Written write(const std::string& script, const GenerationSettings& settings,
                const std::vector<std::int64_t>& prompts) const {
    return write(tokenizer->encode(script), settings, prompts);
  }
  Written write(const std::vector<std::int32_t>& script, const GenerationSettings& settings,
                const std::vector<std::int64_t>& prompts) const {
    Written written;
    Session session(
        make_owned<RecitingPass>(PassSizes{.tokens = 16, .wanted = sequences, .sequences = sequences, .pages = pages},
                                 script, tokenizer->vocab_size(), written.passes));
    std::uint32_t next = 0;
    generate(session, *tokenizer, settings,
             {.next = [&]() -> std::optional<TextRequest> {
                if (next == prompts.size()) return std::nullopt;
                const auto n = static_cast<std::size_t>(prompts[next]);
                return TextRequest{std::vector<std::int32_t>(n, 5), {next++}};
              },
              .show = [&](TextNumber number,
                          std::string_view more) { written.pieces[number.prompt].emplace_back(more); },
              .done = [&](TextNumber number, GeneratedText text) { written.texts[number.prompt] = std::move(text); }});
    written.pages_left = session.free_pages();
    return written;
  }
};

GenerationSettings greedy(std::int64_t max_tokens) {
  return {.max_tokens = max_tokens, .sampling = {.temperature = 0}};
}

/// What a model that recites these tokens writes behind the first n of them.
std::string continued(const data::Tokenizer& tokenizer, const std::vector<std::int32_t>& ids, std::size_t n,
                      bool is_turn = false) {
  constexpr std::int64_t long_context = 128;
  std::vector<std::int64_t> passes;
  Session session(make_owned<RecitingPass>(
      PassSizes{.tokens = 16, .wanted = 1, .sequences = 2, .pages = 2 * pages_of(long_context)}, ids,
      tokenizer.vocab_size(), passes, long_context));
  GenerationSettings settings = greedy(static_cast<std::int64_t>(ids.size() - n));
  settings.is_turn = is_turn;
  std::string shown;
  const GeneratedText text = Conversation(session, tokenizer, settings)
                                 .answer({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n)},
                                         [&](std::string_view more) { shown += more; });
  CHECK(shown == text.text);
  return text.text;
}

}  // namespace

TEST_CASE("text is shown in whole characters, and all of it") {
  const Machine machine;
  const std::string script = "a\U0001F98A\U0001F40D\u00e9 \u4e2d\u6587";
  const auto n = static_cast<std::int64_t>(machine.tokenizer->encode(script).size());
  REQUIRE(n > 10);  // most characters are several tokens
  for (std::int64_t length = 1; length < n; ++length) {
    const Written written = machine.write(script, greedy(length), {1});
    std::string together;
    for (const std::string& piece : written.pieces.at(0)) {
      CHECK(data::valid_utf8_prefix(piece) == piece.size());
      together += piece;
    }
    CHECK(together == written.texts.at(0).text);
    CHECK(std::ssize(written.texts.at(0).ids) == length);
    CHECK(written.texts.at(0).finish_reason == FinishReason::length);
  }
}

TEST_CASE("a text ends before every token that ends texts or turns, and before a stop text") {
  const Machine machine;
  for (const std::string end : {"<|im_end|>", "<|endoftext|>"}) {
    GenerationSettings settings = greedy(20);
    settings.stop_ids = stop_ids(*machine.tokenizer, "nowhere");
    const Written written = machine.write("some words" + end + "and more", settings, {1});
    CHECK(written.texts.at(0).finish_reason == FinishReason::stop);
    CHECK(std::string("some words").ends_with(written.texts.at(0).text));
    CHECK_FALSE(written.texts.at(0).text.empty());
  }
  GenerationSettings settings = greedy(20);
  settings.stop_texts = {"wor"};
  const Written written = machine.write("some words and more", settings, {1});
  CHECK(written.texts.at(0).finish_reason == FinishReason::stop);
  CHECK(std::string("some ").ends_with(written.texts.at(0).text));
}

TEST_CASE("a stop text of byte tokens ends a text with its last byte, however many bytes follow it") {
  Machine machine;
  machine.tokenizer = data::read_tokenizer(tokenizers + "llama2.json");
  const auto byte = [&](const std::string& digits) { return machine.tokenizer->find("<0x" + digits + ">").value(); };
  const std::int32_t a = machine.tokenizer->find("a").value(), newline = byte("0A");
  // Behind a prompt that is a byte token, too.
  const auto write = [&](std::vector<std::int32_t> ids, const std::string& stop, std::int64_t max_tokens) {
    ids.insert(ids.begin(), 0);  // in the place of the prompt
    ids.resize(static_cast<std::size_t>(context_length), ids.back());
    GenerationSettings settings = greedy(max_tokens);
    settings.stop_texts = {stop};
    return machine.write(ids, settings, {1}).texts.at(0);
  };
  const auto check = [](const GeneratedText& text, const std::string& shown, std::size_t tokens, FinishReason reason) {
    CHECK(text.text == shown);
    CHECK(text.ids.size() == tokens);
    CHECK(text.finish_reason == reason);
  };
  check(write({a, newline}, "\n", 20), "a", 2, FinishReason::stop);
  check(write({newline}, "\n", 20), "", 1, FinishReason::stop);
  check(write({a, newline}, "a\n\n", 20), "", 3, FinishReason::stop);
  check(write({a, byte("C3"), byte("A9")}, "\u00e9", 20), "a", 3, FinishReason::stop);
  check(write({a, newline}, "\n", 2), "a", 2, FinishReason::stop);
  check(write({a, newline}, "\n\n", 2), "a\n", 2, FinishReason::length);
  // A run that is no text has no newline in it, and what it becomes is known at its end alone.
  check(write({a, byte("E4"), newline}, "\n", 4), "a\uFFFD\uFFFD\uFFFD", 4, FinishReason::length);
  check(write({a, byte("E4")}, "\uFFFD", 2), "a", 2, FinishReason::stop);
}

TEST_CASE("many texts are what each is by itself, however few grow at a time") {
  Machine machine;
  const std::string script = "The quick brown fox jumps over the lazy dog, and the dog sleeps on.";
  const std::vector<std::int64_t> prompts{1, 9, 3, 30, 2, 17, 4};
  GenerationSettings settings = greedy(12);
  settings.log_probabilities = 1;
  machine.sequences = 1, machine.pages = 2;
  const Written one_by_one = machine.write(script, settings, prompts);
  CHECK(one_by_one.texts.size() == prompts.size());
  for (const std::int64_t sequences : {2, 3, 10}) {
    machine.sequences = sequences;
    for (const std::int64_t pages : {std::int64_t{2}, std::int64_t{3}, 2 * sequences}) {
      machine.pages = pages;
      const Written together = machine.write(script, settings, prompts);
      CHECK(together.pages_left == pages);
      for (const auto& [number, text] : one_by_one.texts) {
        CHECK(together.texts.at(number).text == text.text);
        CHECK(together.texts.at(number).ids == text.ids);
        CHECK(together.texts.at(number).log_probabilities.size() == text.ids.size());
      }
    }
  }
}

TEST_CASE("prompts that fit a pass go through it together") {
  Machine machine;
  machine.sequences = 4, machine.pages = 8;
  CHECK(machine.write("some words", greedy(2), {3, 4, 9, 1}).passes == std::vector<std::int64_t>{16, 1, 4});
}

TEST_CASE("a text goes on when its context is full, and a prompt may be longer than the context") {
  const Machine machine;
  const Written written = machine.write("The quick brown fox", greedy(100), {1, context_length, 3 * context_length});
  for (const auto& [number, text] : written.texts) CHECK(text.ids.size() == 100);
  CHECK(written.texts.size() == 3);
  CHECK(written.pages_left == machine.pages);
}

TEST_CASE("a cache without room for a text by itself is refused") {
  Machine machine;
  machine.pages = 1;
  CHECK(contains(error_of([&] { machine.write("words", greedy(20), {1}); }), "[RUN-28]"));
  CHECK_NOTHROW(machine.write("words", greedy(15), {1}));
}

TEST_CASE("a prompt without tokens begins behind the end of a text") {
  const Machine machine;
  const std::vector<std::int32_t> ends = stop_ids(*machine.tokenizer, "nowhere");
  CHECK(prompt_ids(*machine.tokenizer, "", ends) == std::vector{ends.front()});
  CHECK(machine.tokenizer->token_of(ends.front()) == "<|endoftext|>");
  CHECK(contains(error_of([&] { prompt_ids(*machine.tokenizer, "", {}); }), "[RUN-09]"));
  const auto llama = data::read_tokenizer(tokenizers + "llama3.json");
  const auto before = llama->ids_before_text();
  CHECK(prompt_ids(*llama, "", {}) == std::vector(before.begin(), before.end()));
}

TEST_CASE("the files beside a tokeniser name tokens that end texts") {
  const auto tokenizer = data::read_tokenizer(tokenizers + "qwen2.json");
  const std::vector<std::int32_t> usual = stop_ids(*tokenizer, "nowhere");
  CHECK(usual.size() == 2);
  const TemporaryFolder folder;
  const auto with = [&](const std::string& name, const std::string& text) {
    write_bytes(folder / name, text);
    return stop_ids(*tokenizer, folder.path());
  };
  auto more = usual;
  more.push_back(7);
  CHECK(with("generation_config.json", R"({"eos_token_id": 7})") == more);
  more.push_back(9);
  CHECK(with("generation_config.json", R"({"eos_token_id": [7, 9, 7]})") == more);
  CHECK(with("generation_config.json", R"({"eos_token_id": null})") == usual);
  CHECK(with("tokenizer_config.json", R"({"eos_token": "<|im_end|>"})") == usual);
  CHECK(with("tokenizer_config.json", R"({"eos_token": {"content": "!", "lstrip": false}})").size() == 3);
  for (const std::string broken :
       {R"({"eos_token": "no such token"})", R"({"eos_token": 1000000})", R"({"eos_token": [-1]})",
        R"({"eos_token": 1.5})", R"({"eos_token": {"content": []}})", "[]", "{", "", "\xff"}) {
    CAPTURE(broken);
    CHECK(contains(error_of([&] { with("tokenizer_config.json", broken); }), "[RUN-29]"));
  }
  const auto refusal = [&](const std::string& text) { return error_of([&] { with("tokenizer_config.json", text); }); };
  CHECK(contains(refusal(std::string("{}\0{}", 5)), "[RUN-29]"));
  CHECK(contains(refusal(std::string("{}\0{}", 5)), "is no JSON object: there is a NUL byte (column 3); mend it"));
  CHECK(contains(refusal(R"({"n": 1e400})"), "is no JSON object: number overflow parsing '1e400'"));
}

TEST_CASE("the token that ends turns by the model's template stands for all that do so elsewhere") {
  const auto tokenizer = data::read_tokenizer(tokenizers + "qwen2.json");
  const std::int32_t end_of_text = tokenizer->find("<|endoftext|>").value(),
                     end_of_turn = tokenizer->find("<|im_end|>").value(), other = 7;
  CHECK(stop_ids(*tokenizer, "nowhere") == std::vector{end_of_text, end_of_turn});
  CHECK(stop_ids(*tokenizer, "nowhere", other) == std::vector{end_of_text, other});
  CHECK(stop_ids(*tokenizer, "nowhere", end_of_text) == std::vector{end_of_text});
  const TemporaryFolder folder;
  write_bytes(folder / "generation_config.json", R"({"eos_token_id": [9, 7]})");
  CHECK(stop_ids(*tokenizer, folder.path(), other) == std::vector<std::int32_t>{end_of_text, other, 9});
}

TEST_CASE("a text goes on behind its prompt as both are written together, and a turn of a chat begins anew") {
  const std::string letters = "\u1000\u1001\u1002\u1003\u1004\u1005\u1006\u1007\u1008\u1009\u100a\u100b";
  const std::vector<std::string> texts{"Once upon a na\u00efve time a \U0001F98A said 12.",
                                       "a \uff7d or \uff7f, \uff5e\uff5e said", letters + " said " + letters};
  for (const std::string& words : texts)
    for (const std::string name :
         {"qwen2.json", "llama3.json", "llama2.json", "mistral.json", "t5.json", "bpe.model", "unigram.model"}) {
      const auto tokenizer = data::read_tokenizer(tokenizers + name);
      const std::vector<std::int32_t> ids = tokenizer->encode(words);
      const std::string all = tokenizer->decode(ids, true);
      int n_compared = 0;
      for (std::size_t n = 1; n < ids.size(); ++n) {
        const std::vector<std::int32_t> rest(ids.begin() + static_cast<std::ptrdiff_t>(n), ids.end());
        const std::string before = tokenizer->decode({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n)}, true);
        CAPTURE(name, before);
        CHECK(continued(*tokenizer, ids, n, true) == tokenizer->decode(rest, true));
        if (!all.starts_with(before)) continue;  // it ends within a character
        CHECK(continued(*tokenizer, ids, n) == all.substr(before.size()));
        ++n_compared;
      }
      CHECK(n_compared > 2);
    }
}

TEST_CASE("bytes of a prompt that come to nothing are no part of the text behind it") {
  const auto tokenizer = data::read_tokenizer(tokenizers + "llama2.json");
  for (const std::string last : {"\U0001F98A", "\uff5e", "\uff7d"})
    for (const std::string byte : {"<0xF0>", "<0xEF>"}) {
      std::vector<std::int32_t> ids = tokenizer->encode("a" + last);
      const std::size_t n = ids.size();
      ids.push_back(tokenizer->find(byte).value());
      CAPTURE(last, byte);
      CHECK(continued(*tokenizer, ids, n) == "\uFFFD");
    }
}

TEST_CASE("signs of broken characters that a model writes itself stay, behind special tokens, too") {
  const auto tokenizer = data::read_tokenizer(tokenizers + "qwen2.json");
  for (const std::string before : {"<|endoftext|>", "a<|endoftext|><|endoftext|>"}) {
    std::vector<std::int32_t> ids = tokenizer->encode(before);
    const std::size_t n = ids.size();
    for (const std::int32_t id : tokenizer->encode("\uFFFD\uFFFDb")) ids.push_back(id);
    CAPTURE(before);
    CHECK(continued(*tokenizer, ids, n) == "\uFFFD\uFFFDb");
  }
}

TEST_CASE("of a conversation only what is new goes through the model") {
  const Machine machine;
  const std::vector<std::int32_t> script =
      machine.tokenizer->encode("zero one two three four five six seven eight nine");
  std::vector<std::int64_t> passes;
  const auto n_tokens = [&passes] { return std::accumulate(passes.begin(), passes.end(), std::int64_t{0}); };
  Session session(make_owned<RecitingPass>(PassSizes{.tokens = 16, .wanted = 1, .sequences = 2, .pages = 2}, script,
                                           machine.tokenizer->vocab_size(), passes));
  const GenerationSettings settings = greedy(4);
  {
    Conversation conversation(session, *machine.tokenizer, settings);
    const auto answer = [&](const std::vector<std::int32_t>& prompt) {
      passes.clear();
      std::string shown;
      const GeneratedText text = conversation.answer(prompt, [&](std::string_view more) { shown += more; });
      CHECK(shown == text.text);
      CHECK(text.finish_reason == FinishReason::length);
      for (std::size_t i = 0; i < text.ids.size(); ++i)
        CHECK(text.ids[i] == script[(prompt.size() + i) % script.size()]);
      return text.ids;
    };
    std::vector<std::int32_t> said{5, 5, 5};
    const std::vector<std::int32_t> first = answer(said);
    REQUIRE(first.size() == 4);
    CHECK(n_tokens() == 3 + 3);  // nobody asks what follows the last
    said.insert(said.end(), first.begin(), first.end());
    said.insert(said.end(), {7, 7});
    CHECK(answer(said).size() == 4);
    CHECK(n_tokens() == 1 + 2 + 3);
    said[1] = 6;
    CHECK(answer(said).size() == 4);
    CHECK(n_tokens() == 9 + 3);
    CHECK(answer({5}).size() == 4);
    CHECK(n_tokens() == 1 + 3);

    said.assign(30, 5);
    CHECK(conversation.room(said) == 2);
    CHECK(answer(said).size() == 2);
    CHECK(n_tokens() == 30 + 1);
    CHECK(answer({7, 5}).size() == 4);
    said.assign(20, 5);
    said.push_back(7);
    CHECK(answer(said).size() == 4);
    said.back() = 6;  // the first page, of 16 tokens, is kept
    CHECK(answer(said).size() == 4);
    CHECK(n_tokens() == 21 - 16 + 3);
    said.resize(16);  // all of it is, but for what has to be asked
    CHECK(answer(said).size() == 4);
    CHECK(n_tokens() == 16 + 3);
    said.resize(17, 5);
    CHECK(answer(said).size() == 4);
    CHECK(n_tokens() == 1 + 3);

    // An answer that is stopped after two tokens goes on from there.
    std::string shown;
    passes.clear();
    const GeneratedText stopped = conversation.answer(
        {5}, [&](std::string_view more) { shown += more; }, [&] { return passes.size() == 2; });
    CHECK(stopped.ids == std::vector<std::int32_t>{script[1], script[2]});
    CHECK(shown == stopped.text);
    CHECK(answer({5, script[1], script[2], 7}).size() == 4);
    CHECK(n_tokens() == 2 + 3);
  }
  CHECK(session.free_pages() == 2);
}
