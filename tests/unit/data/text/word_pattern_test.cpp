#include "support/growth_of_time.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/text/character_class.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/text/word_pattern.hpp>

#include <nlohmann/json.hpp>

#include <bit>
#include <numeric>
#include <sstream>

using namespace monomorph::data;
using monomorph::testing::growth_of_time;
using monomorph::testing::most_linear_growth;
using nlohmann::json;

namespace {

std::vector<std::size_t> lengths_of_words(WordPattern pattern, std::string_view text) {
  std::vector<std::size_t> lengths;
  while (!text.empty()) {
    lengths.push_back(word_length(pattern, text));
    text.remove_prefix(lengths.back());
  }
  return lengths;
}

/// Calls `visit` with every text of the fixture, each pattern of it and the lengths of words that the reference finds.
template <class Visit> void for_each_reference(Visit visit) {
  std::istringstream lines(monomorph::read_text_file(fixture("words.jsonl")));
  std::string line;
  std::getline(lines, line);
  const json patterns = json::parse(line);
  REQUIRE(patterns.size() == 5);
  int n_texts = 0;
  for (; std::getline(lines, line); ++n_texts) {
    const json record = json::parse(line);
    for (const char* name : {"gpt2", "cl100k", "qwen2", "o200k", "tekken"}) {
      const auto pattern = known_word_pattern(patterns[name].get<std::string>());
      REQUIRE(pattern);
      visit(*pattern, record["text"].get<std::string>(), record[name].get<std::vector<std::size_t>>());
    }
  }
  REQUIRE(n_texts == 565);
}

}  // namespace

TEST_CASE("Every code point has the class that the reference gives it") {
  std::istringstream runs(monomorph::read_text_file(fixture("character_classes.txt")));
  std::vector<std::pair<char32_t, char>> begins;
  unsigned begin;
  char name;
  while (runs >> std::hex >> begin >> name) begins.emplace_back(begin, name);
  REQUIRE(begins.size() == 3194);
  begins.emplace_back(0x110000, ' ');
  int n_wrong = 0;
  for (std::size_t run = 0; run + 1 < begins.size(); ++run) {
    for (char32_t code_point = begins[run].first; code_point < begins[run + 1].first; ++code_point) {
      const auto bit = std::countr_zero(static_cast<unsigned>(character_class(code_point)));
      n_wrong += "OMULCNSE"[bit] != begins[run].second;
    }
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("Texts are cut into the words of the reference") {
  for_each_reference([](WordPattern pattern, const std::string& text, const std::vector<std::size_t>& expected) {
    INFO(static_cast<int>(pattern) << ": " << text);
    CHECK(lengths_of_words(pattern, text) == expected);
  });
}

TEST_CASE("A word is decided only if nothing that follows can change it") {
  for_each_reference([](WordPattern pattern, const std::string& text, const std::vector<std::size_t>& expected) {
    // Whatever the text goes on with, here the text itself, its first word stays.
    for (std::size_t end = 0; end < text.size(); ++end) {
      const std::string_view beginning = std::string_view(text).substr(0, end);
      if (complete_utf8_prefix(beginning) != end) continue;
      const std::size_t decided = decided_word_length(pattern, beginning);
      INFO(static_cast<int>(pattern) << ": " << text << " cut at " << end);
      CHECK((decided == 0 || decided == expected[0]));
    }
    // A letter, a digit and a letter after it decide every word but those of their own.
    CHECK((decided_word_length(pattern, text + "a1a") == word_length(pattern, text + "a1a")));
  });
}

TEST_CASE("Only the spellings of tokenizer.json files are known") {
  for (const auto pattern :
       {WordPattern::gpt2, WordPattern::cl100k, WordPattern::qwen2, WordPattern::o200k, WordPattern::tekken}) {
    CHECK(known_word_pattern(regex_of(pattern)) == pattern);
  }
  CHECK(!known_word_pattern(""));
  CHECK(!known_word_pattern(R"(\s+)"));
  CHECK(!known_word_pattern(std::string(regex_of(WordPattern::gpt2)) + "|x"));
}

TEST_CASE("Long runs take linear time") {
  for (const auto pattern :
       {WordPattern::gpt2, WordPattern::cl100k, WordPattern::qwen2, WordPattern::o200k, WordPattern::tekken}) {
    for (const std::string unit : {" ", "\n", " \n", "a", "A", "1", "é", "中A", "'", ".", "\u0301"}) {
      INFO(regex_of(pattern) << " on " << unit);
      const auto run = [&](std::size_t size) {
        std::string text;
        while (text.size() < size) text += unit;
        return text;
      };
      CHECK(growth_of_time(1 << 15, run, [&](const std::string& text) {
              const auto lengths = lengths_of_words(pattern, text);
              REQUIRE(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) == text.size());
            }) < most_linear_growth);
    }
  }
}
