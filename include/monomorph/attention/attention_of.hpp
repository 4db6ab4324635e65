#pragma once
#include <monomorph/attention/causal.hpp>

namespace monomorph {

namespace detail {
template <class R> struct AttentionOf { using type = attention::Causal; };
template <class R>
requires requires { typename R::attention; }
struct AttentionOf<R> {
  using type = typename R::attention;
};
}  // namespace detail

/// A recipe's `attention`, or Causal.
template <class R> using attention_of = typename detail::AttentionOf<R>::type;

}  // namespace monomorph
