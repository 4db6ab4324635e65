#pragma once
#include <monomorph/attention/causal.hpp>
#include <monomorph/finetuning/all.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/schedule/warmup_decay.hpp>
#include <monomorph/spec/expectations.hpp>
#include <monomorph/spec/mesh_spec.hpp>

namespace monomorph {

/// A recipe's `mesh`, or one without model parallelism.
template <class R>
inline constexpr MeshSpec mesh_of = [] {
  if constexpr (requires { R::mesh; })
    return R::mesh;
  else
    return MeshSpec{};
}();

namespace detail {
template <class R> struct ObjectiveOf { using type = objective::NextToken; };
template <class R>
requires requires { typename R::objective; }
struct ObjectiveOf<R> {
  using type = typename R::objective;
};
template <class R> struct AttentionOf { using type = attention::Causal; };
template <class R>
requires requires { typename R::attention; }
struct AttentionOf<R> {
  using type = typename R::attention;
};
template <class R> struct FinetuningOf { using type = finetuning::All; };
template <class R>
requires requires { typename R::finetuning; }
struct FinetuningOf<R> {
  using type = typename R::finetuning;
};
template <class R> struct ScheduleOf { using type = schedule::WarmupDecay; };
template <class R>
requires requires { typename R::schedule; }
struct ScheduleOf<R> {
  using type = typename R::schedule;
};
}  // namespace detail

/// A recipe's `objective`, or the next token.
template <class R> using objective_of = typename detail::ObjectiveOf<R>::type;
/// A recipe's `attention`, or Causal.
template <class R> using attention_of = typename detail::AttentionOf<R>::type;
/// A recipe's `finetuning`, or All.
template <class R> using finetuning_of = typename detail::FinetuningOf<R>::type;
/// A recipe's `schedule`, or WarmupDecay.
template <class R> using schedule_of = typename detail::ScheduleOf<R>::type;

namespace rule {

template <class R> concept HasBudget = requires { R::budget; };
template <class R> concept HasExpect = requires { R::expect; };
template <class R> concept HasObserver = requires { typename R::observer; };

/// Ranks of a model replica, however wrong the mesh is.
constexpr std::int64_t ranks_per_replica(MeshSpec mesh) {
  const auto in_range = [](int degree) { return 1 <= degree && degree <= 65'536; };
  if (!in_range(mesh.tp) || !in_range(mesh.pp) || !in_range(mesh.cp)) return 0;
  return std::int64_t{mesh.tp} * mesh.pp * mesh.cp;
}

/// Data-parallel ranks; 0 if no whole number of replicas forms them.
constexpr std::int64_t replicas_of(std::int64_t ranks, std::int64_t ranks_per_replica) {
  return ranks > 0 && ranks_per_replica > 0 && ranks % ranks_per_replica == 0 ? ranks / ranks_per_replica : 0;
}

/// Data-parallel ranks of a recipe's budget; 0 if it has none or a rule of its own says what is wrong with it.
template <class R>
inline constexpr std::int64_t budgeted_replicas = [] {
  if constexpr (HasBudget<R>) return replicas_of(R::budget.ranks.value, ranks_per_replica(mesh_of<R>));
  return std::int64_t{0};
}();

}  // namespace rule
}  // namespace monomorph
