#pragma once
#include <boost/hana/for_each.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::plan {

/// Calls f(mask of the recipe's attention), then f(mask) of each run of layers that has an attention.
template <class R> constexpr void for_each_mask(auto&& f) {
  f(AttentionMask{attention_of<R>::mask});
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    if constexpr (requires { typename Block::Attention; }) f(AttentionMask{Block::Attention::mask});
  });
}

/// As many tokens at the beginning of a row, or of each of its documents, see each other in some layer. A token that
/// others see is not for them to predict: none of these is a target.
template <class R>
inline constexpr std::int64_t longest_prefix = [] {
  std::int64_t longest = 0;
  for_each_mask<R>([&](const AttentionMask& mask) { longest = mask.prefix > longest ? mask.prefix : longest; });
  return longest;
}();

}  // namespace monomorph::plan
