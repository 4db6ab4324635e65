#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// Ends a text that comes in pieces before the first of several texts that is complete in it; of those that are
/// complete at once, before the longest. What may yet become one of them is held back.
class StopTexts {
 public:
  /// @param stops none of them empty
  explicit StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// What can be shown after one more piece. Nothing comes after the end.
  std::string push(std::string_view piece);
  bool reached() const noexcept { return reached_; }
  /// What is held back, once no more will come.
  std::string finish();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool reached_ = false;
};

}  // namespace monomorph::train
