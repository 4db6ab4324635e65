#pragma once
#include <concepts>
#include <cstdint>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

namespace detail {
template <class P> concept BringsHparams = requires { typename P::Hparams; };
template <class P> concept MadeOfNothing = !BringsHparams<P> && requires { P{}; };
template <class P> concept MadeOfHparams = requires(const typename P::Hparams& hparams) { P{hparams}; };
}  // namespace detail

/// An observer is shown steps of a run and cannot change anything of it. A policy may have a `struct Hparams`, the
/// section `observer` of the hyperparameters; it may export `template <class R> using rules = RuleList<…>`. Besides the
/// parts, it has
///
///   void observe(const auto& step, auto& records);
///
/// which is given a train::ObservedStep and train::ObserverRecords (train/observe/): what it sees, and where it writes.
/// A run makes one observer on each rank, when it starts; what an observer throws ends the run.
struct ObserverAxis {
  MONOMORPH_OPTIONAL_AXIS(observer, "monomorph::observer::TensorNorms")
  MONOMORPH_LOOK_UPS(Look, observe, Hparams);
  /// Said of one without `observe`, and below the firewall of one whose `observe` cannot be called.
  template <class P, bool holds> static consteval void explain_observe() {
    static_assert(
        holds,
        "[OBSERVE-01] an observer must have `void observe(const auto& step, auto& records)`: what it makes of "
        "a monomorph::train::ObservedStep and writes to monomorph::train::ObserverRecords "
        "(docs/rules.md#observe-01)");
  }
  template <class P> struct Parts {
    static constexpr bool hparams = !Look::has_Hparams<P> || detail::BringsHparams<P>;
    static constexpr bool made = detail::MadeOfNothing<P> || detail::MadeOfHparams<P>;
    static constexpr bool wants = requires(const P& observer, std::int64_t step) {
      { observer.wants(step) } -> std::same_as<bool>;
    };
    static constexpr bool observe = Look::has_observe<P>;
    static constexpr bool all_hold = hparams && made && wants && observe;
    static consteval void explain() {
      static_assert(
          hparams,
          "[OBSERVE-01] an observer's Hparams, if it has some, must be `struct Hparams`, adapted by "
          "BOOST_HANA_ADAPT_STRUCT: the section `observer` of the hyperparameters (docs/rules.md#observe-01)");
      static_assert(
          made || !hparams,
          "[OBSERVE-01] an observer must be made by `Observer{}`, or by `Observer{hparams}` if it has `struct "
          "Hparams`, the section `observer` of the hyperparameters (docs/rules.md#observe-01)");
      static_assert(
          wants,
          "[OBSERVE-01] an observer must have `bool wants(std::int64_t step) const`: whether it is to be shown "
          "the step, counted from 1 (docs/rules.md#observe-01)");
      explain_observe<P, observe>();
    }
  };
};
template <class P> concept ObserverPolicy = Fits<ObserverAxis, P>;

}  // namespace monomorph
