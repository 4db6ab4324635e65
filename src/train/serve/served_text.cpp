#include "train/serve/served_text.hpp"

namespace monomorph::train {

void TextEvents::push(TextEvent event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  arrived_.notify_one();
}

std::optional<TextEvent> TextEvents::next(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_until(lock, until, [&] { return !events_.empty(); })) return std::nullopt;
  TextEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace monomorph::train
