#include "unit/data/data_test_support.hpp"

#include <monomorph/data/bpe/merge_joints.hpp>

#include <map>
#include <random>

using namespace monomorph::data;

TEST_CASE("Two tokens may be joined if they are side by side within a merged one") {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    std::map<std::int32_t, std::string> letters{{'a', "a"}, {'b', "b"}, {'c', "c"}, {'d', "d"}};
    std::vector<MergeRule> rules;
    std::vector<std::int32_t> tokens{'a', 'b', 'c', 'd'};
    for (std::int32_t token = 256; token < 256 + round % 9; ++token) {
      rules.push_back({{tokens[random() % tokens.size()], tokens[random() % tokens.size()]}, token});
      letters[token] = letters[rules.back().pair.left] + letters[rules.back().pair.right];
      tokens.push_back(token);
    }
    std::shuffle(rules.begin(), rules.end(), random);
    const MergeJoints joints(rules);
    for (const char left : {'a', 'b', 'c', 'd'}) {
      for (const char right : {'a', 'b', 'c', 'd'}) {
        bool expected = false;
        for (const MergeRule& rule : rules) expected |= contains(letters[rule.token], std::string(1, left) + right);
        INFO(round << " " << left << right);
        CHECK(joints.may_join({left, right}) == expected);
      }
    }
  }
}

TEST_CASE("Where rules are unusual, everything may be joined") {
  CHECK_FALSE(MergeJoints(std::vector<MergeRule>{{{1, 2}, 10}}).may_join({2, 1}));
  CHECK(MergeJoints(std::vector<MergeRule>{{{1, 2}, 10}}).may_join({10, 1}));               // a word of merged tokens
  CHECK(MergeJoints(std::vector<MergeRule>{{{1, 2}, 1}}).may_join({2, 1}));                 // made of itself
  CHECK(MergeJoints(std::vector<MergeRule>{{{1, 2}, 10}, {{3, 2}, 10}}).may_join({2, 1}));  // two with one name
  CHECK_FALSE(MergeJoints().may_join({2, 1}));
}
