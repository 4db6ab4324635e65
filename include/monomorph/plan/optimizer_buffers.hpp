#pragma once
#include <monomorph/plan/update_runs.hpp>
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::plan {

/// Where a rank's shards of the master copy (if compute has parameters of its own) and of the optimiser's state lie. On
/// the device each unit has its place; or in the host's memory, and on the device there are two places, one for the
/// unit that is updated and one for a unit on its way. Where compute has no parameters of its own and they lie on the
/// host, they are the masters, which come to the device likewise. Inference has neither masters nor state.
template <class R> struct OptimizerBuffers {
  static constexpr int n = n_stored_units<R>;
  static constexpr bool on_host = state_space<typename R::optimizer> == MemorySpace::host;  ///< as the policy says
  std::array<Slice, n> master{}, state{};                ///< between updates; of a frozen unit the master alone
  std::array<Slice, n> master_in_use{}, state_in_use{};  ///< on the device, of what lies on the host
  Layout masters, states, host_masters, host_states;

  /// @param waits whether they wait on the host, which need not be what the recipe's policy says
  constexpr explicit OptimizerBuffers(const Shards<R>& shards, bool waits = on_host) {
    if (shards.purpose == Purpose::inference) return;
    std::int64_t longest_part = 0, longest_state = 0;
    for (int u = 0; u < n; ++u) {
      if (keeps_master_copy<typename R::precision> && !is_packed<R>(u))
        master[u] = (waits ? host_masters : masters).take({1, shards.part[u]});
      if (!trains<R>(u)) continue;
      const std::int64_t elements =
          state_elements<typename R::optimizer>(stored_layout<R>(u), shards.part[u], shards.shards);
      state[u] = (waits ? host_states : states).take({1, elements});
      longest_part = larger_of(longest_part, shards.part[u]);
      longest_state = larger_of(longest_state, elements);
    }
    if (waits) place_in_use(shards, longest_part, longest_state);
  }

 private:
  constexpr void place_in_use(const Shards<R>& shards, std::int64_t longest_part, std::int64_t longest_state) {
    Slice of_masters[2], of_states[2];
    for (int slot = 0; slot < 2 && slot < n_units<R> - n_frozen<R>; ++slot) {
      if (keeps_master_copy<typename R::precision> || shards.params_on_host())
        of_masters[slot] = masters.take({1, longest_part});
      of_states[slot] = states.take({1, longest_state});
    }
    for (int u = 0, n_trained = 0; u < n; ++u) {
      if (!trains<R>(u)) continue;
      const int slot = n_trained++ % 2;
      if (keeps_master_copy<typename R::precision> || (shards.params_on_host() && !Shards<R>::resident(u)))
        master_in_use[u] = {of_masters[slot].offset, {1, shards.part[u]}};
      state_in_use[u] = {of_states[slot].offset, state[u].shape};
    }
  }
};

}  // namespace monomorph::plan
