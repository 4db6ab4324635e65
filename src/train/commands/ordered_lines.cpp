#include "train/commands/ordered_lines.hpp"

#include "train/commands/checkpoint_options.hpp"

#include <fmt/format.h>

#include <utility>

namespace monomorph::train {
namespace {

std::string key_of(std::int64_t text) { return fmt::format("generated/{}", text); }

/// Ends the thread that shows lines when what it waits for will not come.
struct Abandoned {};

}  // namespace

OrderedLines::OrderedLines(const World& world) : world_(world) {
  if (world.rank() == 0) showing_ = std::thread([this] { show_all(); });
}

OrderedLines::~OrderedLines() {
  if (!showing_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_all();
  showing_.join();
}

void OrderedLines::expect(std::int64_t n_texts) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  n_expected_ = n_texts;
  changed_.notify_all();
}

void OrderedLines::add(std::int64_t text, std::string line) {
  if (world_.rank() > 0) return world_.set(key_of(text), line);
  const std::lock_guard lock(mutex_);
  own_.emplace(text, std::move(line));
  changed_.notify_all();
}

void OrderedLines::finish() {
  if (!showing_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  showing_.join();
  if (failure_) std::rethrow_exception(failure_);
}

void OrderedLines::show_all() try {
  for (std::int64_t text = 0; wait_until_expected(text); ++text) show(line_of(text) + "\n");
} catch (const Abandoned&) {  // NOLINT(bugprone-empty-catch): why is told by what the owner has thrown
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
}

bool OrderedLines::wait_until_expected(std::int64_t text) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return text < n_expected_ || finished_ || abandoned_; });
  if (abandoned_) throw Abandoned();
  return text < n_expected_;
}

std::string OrderedLines::line_of(std::int64_t text) {
  return is_mine(text) ? own_line(text) : world_.take(key_of(text), static_cast<int>(text % world_.size()));
}

std::string OrderedLines::own_line(std::int64_t text) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return own_.contains(text) || abandoned_; });
  if (abandoned_) throw Abandoned();
  return own_.extract(text).mapped();
}

}  // namespace monomorph::train
