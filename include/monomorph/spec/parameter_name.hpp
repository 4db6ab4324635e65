#pragma once
#include <array>
#include <string_view>

namespace monomorph {

/// The name by which checkpoints know a tensor of a unit: that of the tensor, behind "layers.<block>." if the unit is a
/// block's. Longer ones are cut off.
class ParameterName {
 public:
  /// @param block the unit's; negative if it is none
  constexpr ParameterName(std::string_view of_tensor, int block) {
    if (block >= 0) {
      append("layers.");
      append_number(block);
      append(".");
    }
    append(of_tensor);
  }
  constexpr std::string_view view() const { return {text_.data(), size_}; }

 private:
  constexpr void append(std::string_view text) {
    for (const char character : text)
      if (size_ < text_.size()) text_[size_++] = character;
  }
  constexpr void append_number(int number) {
    if (number >= 10) append_number(number / 10);
    const char digit[] = {static_cast<char>('0' + number % 10), '\0'};
    append(digit);
  }
  std::array<char, 128> text_{};
  std::size_t size_ = 0;
};

}  // namespace monomorph
