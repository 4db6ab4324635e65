// What a client is answered that does not wait for its answer.
#include "train/serve/api.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "told_pass.hpp"
#include "train/serve/api_error.hpp"

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
