#pragma once
#include <cstdint>
#include <monomorph/core/owned.hpp>
#include <monomorph/train/step/token_pass.hpp>
#include <span>
#include <vector>

namespace monomorph::train {

/// Pages that so many tokens fill.
constexpr std::int64_t pages_of(std::int64_t tokens) { return (tokens + PagedTokens::page - 1) / PagedTokens::page; }

/// Logits of one token's successor, by id.
using Logits = std::span<const float>;

/// Sequences that grow, against a cache that has what they are so far. A prompt goes through the model in few passes of
/// many tokens, and then all sequences by one token each in one pass. Sequences take pages of the cache as they grow
/// and give them back when they are closed (docs/why/paged_cache.md).
class Session {
 public:
  explicit Session(Owned<TokenPass> pass);

  std::int64_t context_length() const { return limits_.context_length; }
  std::int64_t vocab_size() const { return limits_.vocab_size; }
  std::int64_t most_sequences() const { return static_cast<std::int64_t>(sequences_.size()); }
  std::int64_t pages() const { return sizes_.pages; }
  const PassSizes& sizes() const { return sizes_; }
  /// That no sequence has.
  std::int64_t free_pages() const { return static_cast<std::int64_t>(free_pages_.size()); }

  /// A new sequence without tokens.   @throws std::logic_error there are as many as planned
  int open();
  /// A new sequence that begins with the first tokens of another, and shares their pages with it.
  /// @param length a multiple of a page's, at most the other's   @throws std::logic_error as open(); another length
  int fork(int sequence, std::int64_t length);
  void close(int sequence);
  std::int64_t length(int sequence) const { return sequences_[static_cast<std::size_t>(sequence)].length; }

  /// Appends tokens, at least one; the logits of what comes behind them.
  /// @throws Error [KERNEL-01]; std::logic_error the context or the cache is full
  Logits prefill(int sequence, std::span<const std::int32_t> tokens);
  /// Tokens that are appended to a sequence, and how many of the last of them have logits of their successors.
  struct Addition {
    int sequence;
    std::span<const std::int32_t> tokens;
    std::int64_t wanted;
  };
  /// Appends tokens to several sequences in one pass.   @return logits of what is wanted, in order, good until the next
  /// call   @throws same; std::logic_error they are more than a pass is planned for
  std::span<const Logits> extend(std::span<const Addition> additions);
  /// Appends a token to each of some sequences.   @return logits by sequence, good until the next call   @throws same
  std::span<const Logits> decode(std::span<const int> sequences, std::span<const std::int32_t> tokens);

 private:
  struct Sequence {
    bool is_open = false;
    std::int64_t length = 0;
  };

  void check(std::span<const std::int32_t> tokens) const;
  void add(int sequence, std::int32_t token);
  void want(std::int64_t row) { wanted_.push_back(static_cast<std::int32_t>(row)); }
  void want_last() { want(static_cast<std::int64_t>(ids_B_.size()) - 1); }
  void take_page(int sequence, std::int64_t place);
  void run();

  Owned<TokenPass> pass_;
  PassSizes sizes_;
  PassLimits limits_;
  std::vector<Sequence> sequences_;
  std::int64_t pages_per_sequence_;
  std::vector<std::int32_t> pages_SP_, free_pages_;
  std::vector<std::int32_t> users_;                                     ///< by page, the sequences that have it
  std::vector<std::int32_t> ids_B_, origins_B_, sequences_B_, wanted_;  ///< of the next pass
  bool from_beginning_ = true;
  std::vector<Logits> logits_;
};

}  // namespace monomorph::train
