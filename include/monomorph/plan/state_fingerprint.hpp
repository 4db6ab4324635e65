#pragma once
#include <monomorph/plan/fingerprint.hpp>
#include <monomorph/spec/resolved.hpp>

/// One number that changes with what a recipe's state is and means: a checkpoint of any recipe of the same number can
/// be gone on from, with the same bits. How the work is divided among ranks, what backward recomputes, what dtype
/// computes between two states and what was expected of the plan change no value of the state, and do not count.
namespace monomorph::plan {

namespace detail {
template <class R> constexpr std::uint64_t state_fingerprint_of() {
  Fingerprint fingerprint;
  fingerprint.add(resolved(R::model));
  fingerprint.add(name_of(R::precision::master_dtype));
  fingerprint.add(type_name<typename R::optimizer>(), type_name<R>());
  add_computation<R>(fingerprint);
  return fingerprint.value();
}
}  // namespace detail

template <class R> inline constexpr std::uint64_t state_fingerprint = detail::state_fingerprint_of<R>();

}  // namespace monomorph::plan
