#include "train/tasks/multiple_choice.hpp"

#include "support/catch.hpp"

using namespace monomorph;
using namespace monomorph::train;

TEST_CASE("a question begins behind the tokens that the tokeniser puts before every text") {
  for (const std::string name : {"llama2.json", "llama3.json", "qwen2.json"}) {
    CAPTURE(name);
    const auto tokenizer = data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/" + name);
    const std::size_t n_before = tokenizer->ids_before_text().size();
    CHECK(n_before == (name == "qwen2.json" ? 0 : 1));
    data::Encoder encoder(*tokenizer);
    const std::vector<std::string> choices{"a river", "bread"};
    const TextGroup group = choices_in_tokens(encoder, *tokenizer, "Question: Why?\nAnswer:", choices, 64);
    REQUIRE(group.size() == choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      std::vector<std::int32_t> ids(tokenizer->ids_before_text().begin(), tokenizer->ids_before_text().end());
      encoder.encode("Question: Why?\nAnswer: " + choices[i], ids);
      CHECK(group[i].ids == ids);
    }
  }
}
