#include "support/growth_of_time.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/bpe/byte_level_bpe.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace monomorph::data;
using monomorph::testing::growth_of_time;
using monomorph::testing::most_linear_growth;
using Ids = std::vector<std::int32_t>;

namespace {

/// Byte-pair encoding as it is defined: the pair of lowest rank, the leftmost of equals, until there is none.
Ids merged_step_by_step(Ids ids, const std::vector<MergeRule>& rules) {
  while (true) {
    std::size_t best_rank = rules.size(), best_at = 0;
    for (std::size_t at = 0; at + 1 < ids.size(); ++at) {
      for (std::size_t rank = 0; rank < best_rank; ++rank) {
        if (rules[rank].pair == TokenPair{ids[at], ids[at + 1]}) best_rank = rank, best_at = at;
      }
    }
    if (best_rank == rules.size()) return ids;
    ids[best_at] = rules[best_rank].token;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

/// Rules over the bytes 'a' to 'd' and what they make, in an order in which parts may come after what is made of them.
std::vector<MergeRule> random_rules(std::mt19937& random) {
  std::vector<std::int32_t> tokens{'a', 'b', 'c', 'd'};
  std::vector<MergeRule> rules;
  for (std::int32_t token = 256; token < 280; ++token) {
    const TokenPair pair{tokens[random() % tokens.size()], tokens[random() % tokens.size()]};
    const bool is_new =
        std::none_of(rules.begin(), rules.end(), [&](const MergeRule& rule) { return rule.pair == pair; });
    if (is_new) rules.push_back({pair, token});
    tokens.push_back(token);
  }
  std::shuffle(rules.begin(), rules.end(), random);
  return rules;
}

std::array<std::int32_t, 256> bytes_as_ids() {
  std::array<std::int32_t, 256> ids;
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

TEST_CASE("Words of every length, met again or not, become what merging step by step makes of them") {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    const std::vector<MergeRule> rules = round == 0 ? std::vector<MergeRule>() : random_rules(random);
    const ByteLevelBpe bpe(bytes_as_ids(), rules);
    ByteLevelBpeEncoder encoder(bpe);
    std::vector<std::string> words;
    for (std::size_t length = 0; length < 90; ++length) {
      words.emplace_back();
      for (std::size_t i = 0; i < length; ++i) words.back() += "abcd"[random() % (1 + length % 4)];
    }
    for (int time = 0; time < 2; ++time) {
      for (const std::string& word : words) {
        INFO(word);
        Ids ids{-1};
        encoder.encode_word(word, ids);
        Ids expected = merged_step_by_step(Ids(word.begin(), word.end()), rules);
        expected.insert(expected.begin(), -1);
        CHECK(ids == expected);
      }
    }
  }
}

TEST_CASE("Long words take linear time, whatever the order of the rules") {
  std::mt19937 random(6);
  for (int round = 0; round < 10; ++round) {
    const std::vector<MergeRule> rules = random_rules(random);
    const ByteLevelBpe bpe(bytes_as_ids(), rules);
    ByteLevelBpeEncoder encoder(bpe);
    for (const std::string letters : {"a", "ab", "abcd"}) {
      INFO("round " << round << " " << letters);
      const auto word = [&](std::size_t size) {
        std::string text(size, ' ');
        for (char& letter : text) letter = letters[random() % letters.size()];
        return text;
      };
      CHECK(growth_of_time(1 << 13, word, [&](const std::string& text) {
              Ids ids;
              encoder.encode_word(text, ids);
            }) < most_linear_growth);
    }
  }
}

TEST_CASE("More words than can be remembered are encoded all the same") {
  const std::vector<MergeRule> rules{{{'1', '2'}, 256}, {{256, '3'}, 257}};
  const ByteLevelBpe bpe(bytes_as_ids(), rules);
  ByteLevelBpeEncoder encoder(bpe);
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += " " + std::to_string(i);
  for (int time = 0; time < 2; ++time) {
    Ids ids;
    CHECK(encoder.encode_words(WordPattern::gpt2, text, true, ids) == text.size());
    std::string decoded;
    for (const std::int32_t id : ids)
      decoded += id == 256 ? "12" : id == 257 ? "123" : std::string(1, static_cast<char>(id));
    CHECK(decoded == text);
    CHECK(std::adjacent_find(ids.begin(), ids.end(), [](auto a, auto b) { return a == '1' && b == '2'; }) == ids.end());
    CHECK(std::adjacent_find(ids.begin(), ids.end(), [](auto a, auto b) { return a == 256 && b == '3'; }) == ids.end());
  }
}

TEST_CASE("A word that is a token may be taken whole") {
  std::vector<std::string> tokens(300);
  tokens[280] = "ab";
  tokens[281] = "a long word of the vocabulary";
  const ByteLevelBpe bpe(bytes_as_ids(), {}, tokens);
  ByteLevelBpeEncoder encoder(bpe);
  for (int time = 0; time < 2; ++time) {
    Ids ids;
    encoder.encode_word("ab", ids);
    encoder.encode_word(tokens[281], ids);
    encoder.encode_word("ac", ids);
    encoder.encode_word("", ids);
    CHECK(ids == Ids{280, 281, 'a', 'c'});
  }
}

TEST_CASE("Rules beyond what the table of merges can hold are refused") {
  const auto error = [](MergeRule rule) { return error_of([&] { MergeTable unused(std::vector{rule}); }); };
  CHECK(error({{0, (1 << 21) - 1}, 7}) == "");
  CHECK(contains(error({{0, 1 << 21}, 7}), "[TOK-60]"));
  CHECK(contains(error({{-1, 0}, 7}), "[TOK-60]"));
  CHECK(contains(error({{0, 0}, 1 << 21}), "[TOK-60]"));
}

TEST_CASE("Of a pair with two rules the later counts") {
  const MergeTable table(std::vector<MergeRule>{{{1, 2}, 3}, {{2, 1}, 4}, {{1, 2}, 5}});
  CHECK(table.token_of(table.rank_of({1, 2})) == 5);
  CHECK(table.rank_of({1, 2}) == 2);
  CHECK(table.rank_of({1, 1}) == MergeTable::no_rank);
}
