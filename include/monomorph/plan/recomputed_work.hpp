#pragma once
#include <monomorph/plan/activations.hpp>
#include <monomorph/plan/flops.hpp>

namespace monomorph::plan {

/// What it takes, and gives, to compute so much of a layer again for backward: per token.
struct RecomputedWork {
  double elements = 0, statistics = 0;  ///< not kept: of the compute dtype, and of that of statistics
  double products = 0, attention = 0;   ///< FLOPs
};

/// The work of a block that backward reaches. Other layers have none.
template <class R> constexpr RecomputedWork recomputed_work(int layer, Recompute again) {
  RecomputedWork work;
  if (!is_block<R>(layer) || !backward_reaches<R>(layer)) return work;
  with_layer<R>(layer, [&](auto l) {
    using Layer = decltype(l);
    const std::int64_t n_tokens = trunk_of<R>.context_length;
    Layout kept, scratch, kept_statistics, statistics_scratch;
    place_saved<Layer>({kept, scratch, again}, {kept_statistics, statistics_scratch, again}, n_tokens, 1);
    work.elements = static_cast<double>(scratch.elements) / static_cast<double>(n_tokens);
    work.statistics = static_cast<double>(statistics_scratch.elements) / static_cast<double>(n_tokens);
    work.attention = again.attention ? attention_flops_per_token<Layer>() : 0;
    work.products = recomputed_flops_per_token<Layer>(again) - work.attention;
  });
  return work;
}

/// The same, summed over all layers.
struct TotalWork {
  double elements = 0, flops = 0;  ///< per token; statistics are among the elements
};
constexpr TotalWork total_work(int n_layers, RecomputedWork (*work_of)(int layer, Recompute again), Recompute again) {
  TotalWork total;
  for (int layer = 0; layer < n_layers; ++layer) {
    const RecomputedWork work = work_of(layer, again);
    total.elements += work.elements + work.statistics;
    total.flops += work.products + work.attention;
  }
  return total;
}

/// Choices for the policy `Selective` that recompute more than what is cheap and less than the whole block.
struct SelectiveChoices {
  static constexpr int capacity = 16;
  std::array<Recompute, capacity> choices{};
  int n = 0;
};
/// All choices of which each part saves memory, in ascending order of the work that is repeated; among those that
/// repeat equal work, one that keeps less comes first. Each contains all that is cheap.
/// @param total_of(again) gives the TotalWork of a choice
constexpr SelectiveChoices selective_choices(auto total_of) {
  SelectiveChoices sorted;
  std::array<TotalWork, SelectiveChoices::capacity> totals{};
  unsigned saving = 0;
  for (unsigned i = 0; i < n_recompute_choices; ++i)
    if (total_of(recompute_of(1U << i)).elements > 0) saving |= 1U << i;
  const unsigned cheap = number_of(Recompute::cheap);
  for (unsigned choice = cheap + 1; choice < all_choices; ++choice) {
    if ((choice & cheap) != cheap || (choice & ~cheap & ~saving) != 0 || (choice & ~cheap) == 0) continue;
    const Recompute again = recompute_of(choice & saving);
    const TotalWork total = total_of(again);
    int i = sorted.n++;
    for (; i > 0 && (total.flops < totals[i - 1].flops ||
                     (total.flops == totals[i - 1].flops && total.elements > totals[i - 1].elements));
         --i)
      sorted.choices[i] = sorted.choices[i - 1], totals[i] = totals[i - 1];
    sorted.choices[i] = again, totals[i] = total;
  }
  return sorted;
}

/// The choices, as bits, that the recipe's policy makes for some block besides nothing, what is cheap, and the whole.
template <class R>
inline constexpr unsigned single_choices = [] {
  unsigned chosen = 0;
  for (int block = 0; block < n_blocks<R>; ++block) {
    const Recompute again = R::checkpointing::recompute(block);
    if (again != Recompute::cheap && again != Recompute::block) chosen |= number_of(again);
  }
  return chosen;
}();

/// Whether one choice, as a bit, saves something of a block for which the policy makes it.
template <class R> constexpr bool saves_by_choice(unsigned choice) {
  for (int block = 0; block < n_blocks<R>; ++block) {
    if ((number_of(R::checkpointing::recompute(block)) & choice) == 0) continue;
    const RecomputedWork work = recomputed_work<R>(layer_of_block<R>(block), recompute_of(choice));
    if (work.elements + work.statistics > 0) return true;
  }
  return false;
}

}  // namespace monomorph::plan
