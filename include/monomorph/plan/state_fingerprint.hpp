#pragma once
#include <monomorph/plan/fingerprint.hpp>
#include <monomorph/spec/resolved.hpp>

/// A number that changes with what a recipe's state is and means: a recipe can resume, with the same bits, from a
/// checkpoint of any recipe that has the same number. What does not change the meaning of the state does not count: the
/// division of work among ranks, recomputation in backward, the compute dtype, and what a recipe expects of its plan.
namespace monomorph::plan {

namespace detail {
/// Adds values as they are in the end, so that a field that was left out counts like one that was given its default.
template <class Spec> constexpr void add_resolved(Fingerprint& fingerprint, const Spec& spec) {
  if constexpr (requires { resolved(spec); })
    fingerprint.add(resolved(spec));
  else if constexpr (DescribedSpec<Spec>)
    for_each_field(spec, [&](const char*, const auto& field) { add_resolved(fingerprint, field); });
  else
    fingerprint.add(spec);
}

template <class R> constexpr std::uint64_t state_fingerprint_of() {
  Fingerprint fingerprint;
  add_resolved(fingerprint, R::model);
  fingerprint.add(name_of(R::precision::master_dtype));
  fingerprint.add(type_name<typename decltype(without_placement<typename R::optimizer>())::type>(), type_name<R>());
  add_computation<R>(fingerprint);
  return fingerprint.value();
}
}  // namespace detail

template <class R> inline constexpr std::uint64_t state_fingerprint = detail::state_fingerprint_of<R>();

}  // namespace monomorph::plan
