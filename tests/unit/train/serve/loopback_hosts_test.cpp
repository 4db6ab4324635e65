// By which names a server may be asked that only its own machine reaches, and has no key.
#include "train/serve/loopback_hosts.hpp"

#include "support/catch.hpp"
#include "told_pass.hpp"
#include "train/serve/api.hpp"
#include "train/serve/api_error.hpp"

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::ToldPass;

namespace {

/// A server's answers to what needs no model.
struct Answers {
  std::unique_ptr<const data::Tokenizer> tokenizer =
      data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/chat/tokenizer.json");
  ServedModel model{.name = "model",
                    .tokenizer = *tokenizer,
                    .settings = {},
                    .context_length = ToldPass::context,
                    .chat_prompt = ChatPrompt(*tokenizer, std::nullopt)};
  Session session{make_owned<ToldPass>(tokenizer->vocab_size(), [](std::int64_t) {})};
  Scheduler scheduler{session, *tokenizer, 1};
  Api api;

  Answers(const std::string& address, const std::string& key)
      : api(model, scheduler, key, std::chrono::seconds(1), LoopbackHosts::of(address)) {}

  int status(const std::vector<std::string>& hosts, const std::string& path = "/v1/models",
             const std::string& key = "") const {
    try {
      return api.admit({.method = "GET", .path = path, .authorization = "Bearer " + key, .hosts = hosts}).status;
    } catch (const ApiError& error) {
      if (error.status() == 403) CHECK(error.json().find("host_not_allowed") != std::string::npos);
      return error.status();
    }
  }
};

}  // namespace

TEST_CASE("an address is known to be this machine's alone, however it is written") {
  for (const std::string address : {"127.0.0.1", "127.1.2.3", "::1", "localhost", "::ffff:127.0.0.1"}) {
    CAPTURE(address);
    REQUIRE(LoopbackHosts::of(address));
    CHECK(LoopbackHosts::of(address)->have(address.find(':') == std::string::npos ? address : '[' + address + ']'));
  }
  for (const std::string address : {"0.0.0.0", "::", "192.0.2.7", "2001:db8::1", ""}) {
    CAPTURE(address);
    CHECK_FALSE(LoopbackHosts::of(address));
  }
}

TEST_CASE("of the names of this machine, those that no page can have are taken, with any port") {
  const auto hosts = LoopbackHosts::of("127.0.0.2");
  REQUIRE(hosts);
  for (const std::string host : {"localhost", "localhost:8000", "LocalHost:1", "127.0.0.1", "127.0.0.1:65535", "[::1]",
                                 "[::1]:8000", "127.0.0.2", "127.0.0.2:8000"})
    if (!hosts->have(host)) FAIL_CHECK(host);
  for (const std::string host : {"",
                                 "evil.example",
                                 "evil.example:8000",
                                 "localhost.evil.example",
                                 "127.0.0.1.evil.example",
                                 "evil.localhost",
                                 "127.0.0.3",
                                 "localhost:8000.evil.example",
                                 "localhost:evil",
                                 "localhost@evil.example",
                                 "[::1",
                                 "[::1]evil",
                                 "[::1].evil.example",
                                 "[localhost",
                                 "::1",
                                 ":",
                                 ":8000",
                                 "[]",
                                 " localhost",
                                 "localhost,evil.example"})
    if (hosts->have(host)) FAIL_CHECK(host);
}

TEST_CASE("a server on loopback without a key refuses requests to other hosts, whatever they are for") {
  const Answers answers("127.0.0.1", "");
  CHECK(answers.status({"127.0.0.1:8000"}) == 200);
  CHECK(answers.status({"localhost"}) == 200);
  CHECK(answers.status({}) == 200);  // HTTP/1.0: no browser
  for (const std::string path : {"/v1/models", "/v1/models/model", "/health", "/v1/completions", "/nothing"})
    CHECK(answers.status({"evil.example:8000"}, path) == 403);
  CHECK(answers.status({"localhost", "evil.example"}) == 403);
  CHECK(answers.status({"evil.example", "localhost"}) == 403);
}

TEST_CASE("with a key, or where other machines reach it, a server may be asked by any name") {
  const Answers with_key("127.0.0.1", "a_key"), open("0.0.0.0", "");
  CHECK(with_key.status({"evil.example"}) == 401);
  CHECK(with_key.status({"proxy.example"}, "/v1/models", "a_key") == 200);
  CHECK(with_key.status({"proxy.example"}, "/health") == 200);
  CHECK(open.status({"machine.example:8000"}) == 200);
}
