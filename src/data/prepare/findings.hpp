#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/data/prepare/verify.hpp>

#include <fmt/format.h>

#include <utility>

namespace monomorph::data {

/// Counts and reports what is wrong with a file.
class Findings {
 public:
  explicit Findings(const FindingCallback& report) : report_(report) {}

  template <class... Arguments> void add(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    ++count_;
    report_(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  /// Does something that throws what is wrong with a file: that becomes a finding, while what is wrong with the disk or
  /// an interruption is thrown on. Returns whether nothing was wrong.
  template <class Action> bool check(Action action) {
    try {
      action();
      return true;
    } catch (const Error& error) {
      if (!is_of_file(error.id())) throw;
      add("{}", error.text());
      return false;
    }
  }

  std::int64_t count() const noexcept { return count_; }

 private:
  static bool is_of_file(ErrorId id) {
    return id == "DATA-05" || id == "DATA-06" || id == "CHAT-10" || id == "CHAT-11";
  }

  const FindingCallback& report_;
  std::int64_t count_ = 0;
};

}  // namespace monomorph::data
