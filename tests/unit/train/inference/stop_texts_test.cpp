#include "train/inference/stop_texts.hpp"

#include "support/catch.hpp"

#include <random>

using monomorph::train::StopTexts;

namespace {

/// What is shown of a text in these pieces, with "|" where it ends.
std::string shown(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopTexts stop(stops);
  std::string text;
  for (const std::string& piece : pieces) text += stop.push(piece);
  text += stop.finish();
  return stop.reached() ? text + "|" : text;
}

}  // namespace

TEST_CASE("A text ends before the first stop text that is complete, however it comes in pieces") {
  CHECK(shown({}, {"a", "b"}) == "ab");
  CHECK(shown({"bc"}, {"ab", "cd"}) == "a|");
  CHECK(shown({"bc"}, {"ab", "bc"}) == "ab|");
  CHECK(shown({"bcd"}, {"ab", "c"}) == "abc");  // begun, but never complete
  CHECK(shown({"aab"}, {"a", "a", "a", "b"}) == "a|");
  CHECK(shown({"abcd", "bc"}, {"abcd"}) == "a|");  // "bc" is complete before "abcd"
  CHECK(shown({"c", "abc"}, {"xabc"}) == "x|");
  CHECK(shown({"b"}, {"ab", "c", "b"}) == "a|");
}

TEST_CASE("What may become a stop text is held back, and nothing else") {
  StopTexts stop({"User:", "\n\n"});
  CHECK(stop.push("abc") == "abc");
  CHECK(stop.push("d U") == "d ");
  CHECK(stop.push("se") == "");
  CHECK(stop.push("d") == "Used");
  CHECK(stop.push("\n") == "");
  CHECK(stop.push("U") == "\n");
  CHECK(stop.push("ser:x") == "");
  CHECK(stop.reached());
}

TEST_CASE("Whether a piece would complete a stop text is said without adding it") {
  StopTexts stop({"bc"});
  CHECK(stop.push("ab") == "a");
  CHECK(stop.would_reach("cd"));
  CHECK_FALSE(stop.would_reach("d"));
  CHECK_FALSE(stop.would_reach(""));
  CHECK_FALSE(stop.reached());
  CHECK(stop.push("d") == "bd");
}

TEST_CASE("How a text is cut into pieces changes nothing") {
  std::mt19937 random(3);
  const auto letters = [&](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<std::string> stops{letters(1 + random() % 5), letters(2 + random() % 5)};
    const std::string text = letters(20);
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size(); at += pieces.back().size())
      pieces.push_back(text.substr(at, 1 + random() % 6));
    CAPTURE(stops, pieces);
    CHECK(shown(stops, pieces) == shown(stops, {text}));
  }
}
