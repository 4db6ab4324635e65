#include <monomorph/rule/near_miss_names.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>
#include "support/catch.hpp"

namespace {

const std::vector<std::string> right_names{"model",     "sharding",  "precision", "checkpointing",
                                           "optimizer", "objective", "attention", "mesh",
                                           "layers",    "budget",    "expect"};
#define MONOMORPH_TEXT(name) #name,
const std::vector<std::string> refused{MONOMORPH_NEAR_MISSES(MONOMORPH_TEXT)};
#undef MONOMORPH_TEXT

/// Keys beside, above and below a letter; each row of a keyboard is shifted half a key to the right.
std::string neighbours(char letter) {
  const std::string rows[] = {"qwertyuiop", "asdfghjkl", "zxcvbnm"};
  std::string found;
  const auto add = [&](int row, int column) {
    if (0 <= row && row < 3 && 0 <= column && column < static_cast<int>(rows[row].size())) found += rows[row][column];
  };
  for (int row = 0; row < 3; ++row) {
    const auto at = rows[row].find(letter);
    if (at == std::string::npos) continue;
    const int column = static_cast<int>(at);
    for (const int step : {-1, 1}) add(row, column + step);
    for (const int step : {-1, 0}) add(row + 1, column + step);
    for (const int step : {0, 1}) add(row - 1, column + step);
  }
  return found;
}

std::set<std::string> slips_of(const std::string& name) {
  std::set<std::string> slips;
  for (std::size_t i = 0; i < name.size(); ++i) {
    slips.insert(name.substr(0, i) + name.substr(i + 1));
    slips.insert(name.substr(0, i) + name[i] + name.substr(i));
    std::string changed = name;
    for (const char letter : neighbours(name[i])) changed[i] = letter, slips.insert(changed);
    changed = name;
    if (i + 1 < name.size()) std::swap(changed[i], changed[i + 1]), slips.insert(changed);
  }
  for (const auto& right : right_names) slips.erase(right);
  return slips;
}

}  // namespace

TEST_CASE("every single slip of the finger is refused") {
  const std::set<std::string> known(refused.begin(), refused.end());
  for (const auto& name : right_names)
    for (const auto& slip : slips_of(name)) {
      INFO(slip << " for " << name);
      CHECK(known.count(slip) == 1);
    }
}

TEST_CASE("no name is listed twice, and none is a right one") {
  std::vector<std::string> all = refused;
  all.insert(all.end(), right_names.begin(), right_names.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
