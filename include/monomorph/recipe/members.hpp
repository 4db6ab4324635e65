#pragma once
#include <monomorph/attention/causal.hpp>
#include <monomorph/device/cpu.hpp>
#include <monomorph/finetuning/all.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/schedule/warmup_decay.hpp>
#include <monomorph/spec/expectations.hpp>
#include <monomorph/spec/mesh_spec.hpp>
#include <type_traits>

namespace monomorph {

/// A recipe's `mesh`, or one without model parallelism.
template <class R>
inline constexpr MeshSpec mesh_of = [] {
  if constexpr (requires { R::mesh; })
    return R::mesh;
  else
    return MeshSpec{};
}();

/// `member_of<R>`: a recipe's `member`, or what stands for it.
#define MONOMORPH_MEMBER_OR(member, otherwise)                       \
  namespace detail {                                                 \
  template <class R> struct member##_or { using type = otherwise; }; \
  template <class R>                                                 \
  requires requires { typename R::member; }                          \
  struct member##_or<R> {                                            \
    using type = typename R::member;                                 \
  };                                                                 \
  }                                                                  \
  template <class R> using member##_of = typename detail::member##_or<R>::type;
MONOMORPH_MEMBER_OR(objective, objective::NextToken)
MONOMORPH_MEMBER_OR(attention, attention::Causal)
MONOMORPH_MEMBER_OR(device, device::Cpu)
MONOMORPH_MEMBER_OR(finetuning, finetuning::All)
MONOMORPH_MEMBER_OR(schedule, schedule::WarmupDecay)
#undef MONOMORPH_MEMBER_OR

/// R on its own device if it names one, and on Device otherwise: what a target is that names no device itself.
template <class R, class Device>
using OnDefault = std::conditional_t < std::is_same_v<device_of<R>, Device> || requires {
  typename R::device;
}
, R, On < R, Device >> ;

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
