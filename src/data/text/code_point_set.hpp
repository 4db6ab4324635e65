#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace monomorph::data {

struct CodePointRange {
  char32_t first, last;
  friend bool operator==(const CodePointRange&, const CodePointRange&) = default;
};

/// A set of code points as sorted ranges that neither overlap nor touch.
class CodePointSet {
 public:
  static constexpr char32_t last_code_point = 0x10FFFF;

  CodePointSet() = default;
  /// `ranges` may come in any order and overlap.
  explicit CodePointSet(std::vector<CodePointRange> ranges);
  CodePointSet(std::initializer_list<CodePointRange> ranges) : CodePointSet(std::vector<CodePointRange>(ranges)) {}

  bool contains(char32_t code_point) const {
    return code_point < 128 ? (ascii_[code_point / 64] >> (code_point % 64) & 1) != 0
                            : contains_beyond_ascii(code_point);
  }
  bool empty() const { return ranges_.empty(); }
  std::span<const CodePointRange> ranges() const { return ranges_; }

  CodePointSet complement() const;
  friend CodePointSet operator|(const CodePointSet& a, const CodePointSet& b);
  friend CodePointSet operator&(const CodePointSet& a, const CodePointSet& b);
  friend CodePointSet operator-(const CodePointSet& a, const CodePointSet& b) { return a & b.complement(); }
  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  bool contains_beyond_ascii(char32_t code_point) const;

  std::vector<CodePointRange> ranges_;
  std::array<std::uint64_t, 2> ascii_{};  ///< a bit for each
};

}  // namespace monomorph::data
