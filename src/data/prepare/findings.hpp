#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/data/prepare/verify.hpp>

#include <fmt/format.h>

#include <string_view>
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
      const std::string_view message = error.what();
      for (const std::string_view id : {"[DATA-05]", "[DATA-06]", "[CHAT-10]", "[CHAT-11]"}) {
        if (!message.starts_with(id)) continue;
        add("{}", message.substr(id.size() + 1));
        return false;
      }
      throw;
    }
  }

  std::int64_t count() const noexcept { return count_; }

 private:
  const FindingCallback& report_;
  std::int64_t count_ = 0;
};

}  // namespace monomorph::data
