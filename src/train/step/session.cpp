#include <monomorph/train/step/session.hpp>

#include <monomorph/train/step/check_batch.hpp>

#include <algorithm>
#include <stdexcept>

namespace monomorph::train {

Session::Session(Owned<TokenPass> pass)
    : pass_(std::move(pass)),
      sizes_(pass_->sizes()),
      limits_(pass_->limits()),
      sequences_(static_cast<std::size_t>(sizes_.sequences)),
      pages_per_sequence_(pages_of(limits_.context_length)),
      pages_SP_(static_cast<std::size_t>(sizes_.sequences * pages_per_sequence_)) {
  users_.resize(static_cast<std::size_t>(sizes_.pages), 0);
  for (std::int64_t page = sizes_.pages; page-- > 0;) free_pages_.push_back(static_cast<std::int32_t>(page));
}

int Session::open() {
  const auto free = std::ranges::find_if(sequences_, [](const Sequence& sequence) { return !sequence.is_open; });
  if (free == sequences_.end()) throw std::logic_error("a session has no more sequences than it was planned for");
  *free = {.is_open = true};
  return static_cast<int>(free - sequences_.begin());
}

void Session::close(int sequence) {
  const std::int32_t* const pages = pages_SP_.data() + sequence * pages_per_sequence_;
  for (std::int64_t place = 0; place < pages_of(length(sequence)); ++place)
    if (--users_[static_cast<std::size_t>(pages[place])] == 0) free_pages_.push_back(pages[place]);
  sequences_[static_cast<std::size_t>(sequence)] = {};
}

/// Shared pages are full: neither sequence writes to them again.
int Session::fork(int sequence, std::int64_t length) {
  if (length % PagedTokens::page != 0 || length > this->length(sequence))
    throw std::logic_error("sequences share whole pages of what one of them has");
  const int fork = open();
  const std::int64_t n_pages = pages_of(length);
  const std::int32_t* const pages = pages_SP_.data() + sequence * pages_per_sequence_;
  std::copy_n(pages, n_pages, pages_SP_.data() + fork * pages_per_sequence_);
  for (std::int64_t place = 0; place < n_pages; ++place) ++users_[static_cast<std::size_t>(pages[place])];
  sequences_[static_cast<std::size_t>(fork)].length = length;
  return fork;
}

Logits Session::prefill(int sequence, std::span<const std::int32_t> tokens) {
  if (tokens.empty()) throw std::logic_error("a prompt has at least one token");
  check(tokens);
  while (!tokens.empty()) {
    const auto n = std::min(tokens.size(), static_cast<std::size_t>(sizes_.tokens));
    for (const std::int32_t token : tokens.first(n)) add(sequence, token);
    tokens = tokens.subspan(n);
    if (tokens.empty()) want_last();
    run();
  }
  return logits_.front();
}

std::span<const Logits> Session::extend(std::span<const Addition> additions) {
  std::int64_t all_wanted = 0;
  for (const auto& [sequence, tokens, n_wanted] : additions) {
    check(tokens);
    all_wanted += n_wanted;
    if (n_wanted > std::ssize(tokens) || all_wanted > sizes_.wanted)
      throw std::logic_error("a pass has logits of its new tokens, and of no more than planned");
  }
  for (const auto& [sequence, tokens, n_wanted] : additions) {
    for (const std::int32_t token : tokens) add(sequence, token);
    for (std::int64_t row = std::ssize(ids_B_) - n_wanted; row < std::ssize(ids_B_); ++row) want(row);
  }
  run();
  return logits_;
}

std::span<const Logits> Session::decode(std::span<const int> sequences, std::span<const std::int32_t> tokens) {
  check(tokens);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    add(sequences[i], tokens[i]);
    want_last();
  }
  run();
  return logits_;
}

/// Before anything is added, so that a wrong token leaves the session as it is.
void Session::check(std::span<const std::int32_t> tokens) const {
  for (const std::int32_t token : tokens) check_token(token, limits_.vocab_size);
}

void Session::add(int number, std::int32_t token) {
  Sequence& sequence = sequences_.at(static_cast<std::size_t>(number));
  const std::int64_t position = sequence.length, row = std::ssize(ids_B_);
  if (!sequence.is_open || position == limits_.context_length || row == sizes_.tokens)
    throw std::logic_error("a session's sequences are open, within the context, and no more than planned");
  if (position % PagedTokens::page == 0) take_page(number, position / PagedTokens::page);
  const auto origin = static_cast<std::int32_t>(row - position);
  const bool follows = row > 0 && sequences_B_.back() == number;
  from_beginning_ = from_beginning_ && (position == 0 || follows);
  ids_B_.push_back(token);
  origins_B_.push_back(origin);
  sequences_B_.push_back(number);
  ++sequence.length;
}

void Session::take_page(int sequence, std::int64_t place) {
  if (free_pages_.empty()) throw std::logic_error("a session's cache has fewer pages than its sequences fill");
  const std::int32_t page = free_pages_.back();
  free_pages_.pop_back();
  pages_SP_[static_cast<std::size_t>(sequence * pages_per_sequence_ + place)] = page;
  users_[static_cast<std::size_t>(page)] = 1;
}

void Session::run() {
  const View logits = pass_->run({.ids_B = ids_B_.data(),
                                  .places = {.tokens = std::ssize(ids_B_),
                                             .origins_B = origins_B_.data(),
                                             .sequences_B = sequences_B_.data(),
                                             .pages_SP = pages_SP_.data(),
                                             .sequences = sizes_.sequences,
                                             .pages_per_sequence = pages_per_sequence_,
                                             .from_beginning = from_beginning_},
                                  .wanted = wanted_});
  logits_.clear();
  for (std::int64_t row = 0; row < std::ssize(wanted_); ++row)
    logits_.emplace_back(logits.rows(row, 1).as<const float>(), static_cast<std::size_t>(limits_.vocab_size));
  ids_B_.clear(), origins_B_.clear(), sequences_B_.clear(), wanted_.clear();
  from_beginning_ = true;
}

}  // namespace monomorph::train
