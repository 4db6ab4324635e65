// What a client is answered that does not wait for its answer, and where the tokens of an echoed prompt stand.
#include "train/serve/api.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "told_pass.hpp"
#include "train/serve/api_error.hpp"
#include "train/serve/completion_answer.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::ToldPass;

namespace {

/// A model whose tokens come faster than anyone asks for the client.
struct QuickModel {
  std::atomic<std::int64_t> n_passes{0};
  std::atomic<bool> ended{false};
  std::unique_ptr<const data::Tokenizer> tokenizer =
      data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/chat/tokenizer.json");
  ServedModel model{.name = "model",
                    .tokenizer = *tokenizer,
                    .settings = {},
                    .context_length = ToldPass::context,
                    .chat_prompt = ChatPrompt(*tokenizer, std::nullopt)};
  Session session{make_owned<ToldPass>(tokenizer->vocab_size(), [this](std::int64_t) {
    ++n_passes;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  })};
  Scheduler scheduler{session, *tokenizer, 1000};
  Api api{model, scheduler, "", std::chrono::seconds(60), std::nullopt};
  std::jthread running{[this] { scheduler.run([this] { return ended.load(); }); }};

  ~QuickModel() { ended = true; }

  /// @param more fields of the request beside a text of 60 tokens
  HttpReply answer(const std::string& more, const std::function<bool()>& client_is_gone) const {
    return api.answer({.method = "POST",
                       .path = "/v1/completions",
                       .body = R"({"prompt": [5], "max_tokens": 60, "temperature": 0)" + more + "}",
                       .client_is_gone = client_is_gone});
  }
  int status_of(const std::function<bool()>& client_is_gone) {
    try {
      return answer("", client_is_gone).status;
    } catch (const ApiError& error) {
      return error.status();
    }
  }
};

/// Where the tokens of an answer stand in it that echoes a prompt, with two behind it that end turns: told at once, or
/// as a stream tells them.
std::vector<int> offsets_of(const ServedModel& model, const nlohmann::json& prompt, bool streams) {
  const auto offsets_in = [](const std::string& told) {
    return nlohmann::json::parse(told)["choices"][0]["logprobs"]["text_offset"].get<std::vector<int>>();
  };
  const nlohmann::json body{
      {"prompt", prompt}, {"max_tokens", 2}, {"echo", true}, {"logprobs", 0}, {"stream", streams}};
  const CompletionRequest request = read_completion(body.dump(), model);
  CompletionAnswer answer(request, model);
  std::vector<int> offsets;
  const auto tell = [&](const TextEvent& event) {
    answer.add(event);
    if (!streams) return;
    const std::vector<int> more = offsets_in(answer.piece(event));
    offsets.insert(offsets.end(), more.begin(), more.end());
  };
  TextEvent of_prompt;
  for (const std::int32_t id : request.prompts.front().ids) of_prompt.scored.push_back({id, {}});
  tell(of_prompt);
  const std::int32_t end = *model.tokenizer.find("<|eot_id|>");
  tell({.scored = {{end, {}}}, .drawn = 1});
  tell({.scored = {{end, {}}}, .drawn = 1, .finish = FinishReason::length});
  return streams ? offsets : offsets_in(answer.whole());
}

}  // namespace

TEST_CASE("a client that goes away is noticed, however fast its tokens come") {
  QuickModel model;
  CHECK(model.status_of([] { return true; }) == 499);
  CHECK(model.n_passes < 30);
  const std::int64_t before = model.n_passes;
  CHECK(model.status_of([] { return false; }) == 200);
  CHECK(model.n_passes - before >= 50);
}

TEST_CASE("nobody writes the texts of a stream that is given up before its first event") {
  QuickModel model;
  {
    const HttpReply unasked = model.answer(R"(, "stream": true)", [] { return false; });
    CHECK(unasked.stream);
    CHECK(model.scheduler.unfinished() == 1);
  }
  CHECK(monomorph::testing::wait_until(std::chrono::seconds(10), [&] { return model.scheduler.unfinished() == 0; }));
  CHECK(model.n_passes < 30);
}

TEST_CASE("the characters before a token are those of the text that is shown, with the special tokens that it names") {
  const auto tokenizer = data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/llama3.json");
  const ServedModel model{.name = "model",
                          .tokenizer = *tokenizer,
                          .settings = {},
                          .context_length = 64,
                          .chat_prompt = ChatPrompt(*tokenizer, std::nullopt)};
  const int begin = *tokenizer->find("<|begin_of_text|>"), end = *tokenizer->find("<|eot_id|>"),
            letter = *tokenizer->find("a");
  for (const bool streams : {false, true}) {
    CAPTURE(streams);
    // A token begins every text, and shows nothing, but where the client writes it, too.
    CHECK(offsets_of(model, "a<|eot_id|>b", streams) == std::vector{0, 0, 1, 11, 12, 12});
    CHECK(offsets_of(model, "<|begin_of_text|>a", streams) == std::vector{0, 0, 17, 18, 18});
    CHECK(offsets_of(model, "", streams) == std::vector{0, 0, 0});
    CHECK(offsets_of(model, std::vector{begin, end, letter}, streams) == std::vector{0, 0, 0, 1, 1});
  }
}
