#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace monomorph::train {

/// What sets a block apart from DecoderBlock with the model's own sizes, in phrases, for `describe` and for
/// checkpoints. Blocks and their parts tell it themselves: one that has
///
///   template <class Recipe> static void describe(auto& to);
///
/// is given this as `to`.   @tparam Recipe the whole recipe, of which the block's tower may have another shape
class BlockFeatures {
 public:
  /// A phrase, of texts and numbers one behind the other: add("top ", 2, " by softmax").
  void add(const auto&... parts) {
    phrases_.emplace_back();
    (append(parts), ...);
  }
  /// A size, if it is not that of the model.
  void add_size(std::string_view name, std::int64_t size, std::int64_t of_model);
  const std::vector<std::string>& phrases() const { return phrases_; }

 private:
  void append(std::string_view text);
  void append(std::int64_t number);
  void append(double number);
  template <class Integer>
  requires std::is_integral_v<Integer>
  void append(Integer number) { append(static_cast<std::int64_t>(number)); }
  std::vector<std::string> phrases_;
};

}  // namespace monomorph::train
