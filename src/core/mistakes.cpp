#include <monomorph/core/mistakes.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph {

bool Mistakes::check(const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const UsageError& mistake) {
    if (is_full())
      count();
    else
      told_.push_back(mistake);
    return false;
  }
}

void Mistakes::check(std::initializer_list<std::string_view> fields, const std::function<void()>& act) {
  if (std::ranges::none_of(fields, [&](std::string_view field) { return is_doubted(field); })) check(act);
}

void Mistakes::doubt(std::string_view name) {
  if (!is_doubted(name)) doubted_.emplace_back(name);
}

bool Mistakes::is_doubted(std::string_view field) const {
  return std::ranges::any_of(doubted_, [&](const std::string& name) {
    return name.empty() || field == name || field.starts_with(name + ".");
  });
}

void Mistakes::throw_if_any() const {
  if (told_.empty()) return;
  std::string text(told_.front().text());
  for (std::size_t i = 1; i < told_.size(); ++i) text.append("\n").append(told_[i].what());
  if (n_untold_ > 0)
    text += fmt::format("\n[HPARAM-07] all mistakes must be corrected, and {} more {} not shown; correct these first",
                        n_untold_, n_untold_ == 1 ? "is" : "are");
  throw UsageError(told_.front().id(), text);
}

}  // namespace monomorph
