#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// Cuts a text that arrives in pieces before the first stop text that is complete in it; if several are completed by
/// the same character, before the longest of them. The end of the text is held back as long as it may be the beginning
/// of a stop text.
class StopTexts {
 public:
  /// @param stops none of them empty
  explicit StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Adds a piece and returns what can be shown now; nothing once a stop text was reached.
  std::string push(std::string_view piece);
  bool reached() const noexcept { return reached_; }
  /// Whether push would reach a stop text with this.
  bool would_reach(std::string_view piece) const;
  /// Returns what is held back, when no more pieces will come.
  std::string finish();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool reached_ = false;
};

}  // namespace monomorph::train
