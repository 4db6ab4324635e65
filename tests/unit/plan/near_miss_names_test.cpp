#include <monomorph/rule/mistaken_names.hpp>
#include <monomorph/rule/near_miss_names.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#include "support/catch.hpp"

namespace {

const std::vector<std::string> right_names{"model",     "sharding",  "precision", "checkpointing",
                                           "optimizer", "objective", "attention", "mesh",
                                           "layers",    "budget",    "expect"};
#define MONOMORPH_TEXT(name) #name,
constexpr std::string_view refused[] = {MONOMORPH_NEAR_MISSES(MONOMORPH_TEXT) MONOMORPH_MISTAKEN_NAMES(MONOMORPH_TEXT)};
#undef MONOMORPH_TEXT

/// All at edit distance 1, where exchanging two neighbours is one edit.
std::set<std::string> slips_of(const std::string& name) {
  std::set<std::string> slips;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const std::string before = name.substr(0, i), rest = name.substr(i);
    for (char letter = 'a'; letter <= 'z'; ++letter) {
      slips.insert(before + letter + rest);
      if (!rest.empty()) slips.insert(before + letter + rest.substr(1));
    }
    if (!rest.empty()) slips.insert(before + rest.substr(1));
    if (rest.size() > 1) slips.insert(before + rest[1] + rest[0] + rest.substr(2));
  }
  for (const auto& right : right_names) slips.erase(right);
  return slips;
}

}  // namespace

TEST_CASE("every name one slip away from a member is refused") {
  const std::set<std::string> known(std::begin(refused), std::end(refused));
  for (const auto& name : right_names)
    for (const auto& slip : slips_of(name)) {
      INFO(slip << " for " << name);
      CHECK(known.count(slip) == 1);
    }
}

TEST_CASE("no name is listed twice, and none is a right one") {
  std::vector<std::string> all(std::begin(refused), std::end(refused));
  all.insert(all.end(), right_names.begin(), right_names.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
