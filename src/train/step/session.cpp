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
  free_pages_.insert(free_pages_.end(), pages, pages + pages_of(length(sequence)));
  sequences_[static_cast<std::size_t>(sequence)] = {};
}

Logits Session::prefill(int sequence, std::span<const std::int32_t> tokens) {
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
  if (position % PagedTokens::page == 0) {
    if (free_pages_.empty()) throw std::logic_error("a session's cache has fewer pages than its sequences fill");
    pages_SP_[static_cast<std::size_t>(number * pages_per_sequence_ + position / PagedTokens::page)] =
        free_pages_.back();
    free_pages_.pop_back();
  }
  const auto origin = static_cast<std::int32_t>(row - position);
  const bool follows = row > 0 && sequences_B_.back() == number;
  from_beginning_ = from_beginning_ && (position == 0 || follows);
  ids_B_.push_back(token);
  origins_B_.push_back(origin);
  sequences_B_.push_back(number);
  ++sequence.length;
}

void Session::want_last() { wanted_.push_back(static_cast<std::int32_t>(ids_B_.size()) - 1); }

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
