#pragma once
#include <monomorph/core/error.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph {

/// The mistakes of a configuration, which are told all at once, as a compiler does. A hostile one has no end of them:
/// the first ones are told, the others counted.
class Mistakes {
 public:
  /// Does what throws a UsageError for one mistake.
  /// @return whether it did not
  bool check(const std::function<void()>& act);
  /// The same about relations between fields, unless one of them is doubted: what is wrong already has no consequences.
  void check(std::initializer_list<std::string_view> fields, const std::function<void()>& act);

  /// What a field holds, or all fields of a section, is not what was meant.   @param name "" for every field
  void doubt(std::string_view name);

  /// No more mistakes are told, so their texts need not be made.
  bool is_full() const { return told_.size() == most_told; }
  /// One that is not told.
  void count() { ++n_untold_; }

  /// @throws UsageError of one line each, with the id of the first; [HPARAM-07] for those that are not told
  void throw_if_any() const;

 private:
  static constexpr std::size_t most_told = 20;
  bool is_doubted(std::string_view field) const;

  std::vector<UsageError> told_;
  std::size_t n_untold_ = 0;
  std::vector<std::string> doubted_;
};

}  // namespace monomorph
