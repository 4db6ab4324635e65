#pragma once
#include <monomorph/runtime/kernels/paged_tokens.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <span>

namespace monomorph::train {

/// What memory is planned for. A pass never takes more.
struct PassSizes {
  std::int64_t tokens = 1;     ///< new ones of a pass
  std::int64_t wanted = 1;     ///< of them, those that logits are made of
  std::int64_t sequences = 1;  ///< at a time
  std::int64_t pages = 0;      ///< of the cache
};

/// What a model says of itself to whoever feeds it.
struct PassLimits {
  std::int64_t context_length, vocab_size;
};

/// What a pass is given.
struct NewTokens {
  const std::int32_t* ids_B;
  PagedTokens places;
  std::span<const std::int32_t> wanted;  ///< those whose next token's logits are asked for, ascending
};

/// A forward pass over new tokens of sequences of unequal lengths: all that prompts and single tokens have in common.
/// What a recipe compiles of generation; the rest is Session.
class TokenPass {
 public:
  virtual ~TokenPass() = default;
  virtual PassSizes sizes() const = 0;
  virtual PassLimits limits() const = 0;
  /// @return fp32 logits of the wanted tokens, row by row, in the host's memory until the next pass
  virtual View run(const NewTokens& tokens) = 0;
};

}  // namespace monomorph::train
