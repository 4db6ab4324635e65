#include "data/text/code_point_set.hpp"

#include <algorithm>

namespace monomorph::data {

CodePointSet::CodePointSet(std::vector<CodePointRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const CodePointRange& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
  for (char32_t code_point = 0; code_point < 128; ++code_point) {
    if (contains_beyond_ascii(code_point)) ascii_[code_point / 64] |= std::uint64_t{1} << (code_point % 64);
  }
}

bool CodePointSet::contains_beyond_ascii(char32_t code_point) const {
  const auto range = std::lower_bound(ranges_.begin(), ranges_.end(), code_point,
                                      [](const CodePointRange& entry, char32_t value) { return entry.last < value; });
  return range != ranges_.end() && code_point >= range->first;
}

CodePointSet CodePointSet::complement() const {
  std::vector<CodePointRange> others;
  char32_t next = 0;
  for (const auto [first, last] : ranges_) {
    if (first > next) others.push_back({next, first - 1});
    next = last + 1;
  }
  if (next <= last_code_point) others.push_back({next, last_code_point});
  return CodePointSet(std::move(others));
}

CodePointSet operator|(const CodePointSet& a, const CodePointSet& b) {
  std::vector<CodePointRange> ranges = a.ranges_;
  ranges.insert(ranges.end(), b.ranges_.begin(), b.ranges_.end());
  return CodePointSet(std::move(ranges));
}

CodePointSet operator&(const CodePointSet& a, const CodePointSet& b) {
  return (a.complement() | b.complement()).complement();
}

}  // namespace monomorph::data
