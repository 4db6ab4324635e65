#pragma once
#include <concepts>
#include <string_view>

namespace monomorph {

/// Which of the tokens before it in its row a token attends to. A policy may export `template <class R> using rules =
/// RuleList<…>`.
template <class P> concept AttentionPolicy = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::within_documents } -> std::convertible_to<bool>;  // those of its document only, in which positions count from 0
};

}  // namespace monomorph
