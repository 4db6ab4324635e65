#include "train/inference/stop_texts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace monomorph::train {
namespace {

/// The length of the longest end of `text` with which `stop` begins; `stop` itself is longer.
std::size_t n_begun(std::string_view text, std::string_view stop) {
  std::size_t n = std::min(text.size(), stop.size() - 1);
  while (!text.ends_with(stop.substr(0, n))) --n;
  return n;
}

}  // namespace

std::string StopTexts::push(std::string_view piece) {
  if (reached_) return {};
  held_ += piece;
  std::size_t first_end = std::string::npos, first = std::string::npos, n_held = 0;
  for (const std::string& stop : stops_) {
    n_held = std::max(n_held, n_begun(held_, stop));
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    std::tie(first_end, first) = std::min(std::pair(first_end, first), std::pair(at + stop.size(), at));
  }
  reached_ = first != std::string::npos;
  std::string shown = held_.substr(0, reached_ ? first : held_.size() - n_held);
  held_ = reached_ ? std::string() : held_.substr(shown.size());
  return shown;
}

bool StopTexts::would_reach(std::string_view piece) const {
  StopTexts with_it = *this;
  with_it.push(piece);
  return with_it.reached();
}

std::string StopTexts::finish() { return std::exchange(held_, {}); }

}  // namespace monomorph::train
