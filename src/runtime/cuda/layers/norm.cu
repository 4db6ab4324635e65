#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/layers/norm_forward.hpp"

namespace monomorph::cuda {
namespace {

/// A team holds its group in registers, so that it is read once: most_packs packs for a thread.
constexpr int most_packs = 4;

enum class Of { group, saved };  ///< where statistics come from

/// Groups of whole packs that a team holds in registers. y may be x.
template <Kind kind, Of source, bool in_block, int packs, int width, class T>
__global__ void __launch_bounds__(in_block ? most_threads : warps_threads, 1) normalise(Forward<T> f, int team) {
  const auto thread = static_cast<int>(threadIdx.x), teams = static_cast<int>(blockDim.x) / team;
  const Member member{thread % team, team};
  const int asked = static_cast<int>(blockIdx.x) * teams + thread / team;
  // Lanes without a group of their own take part in the others' sums.
  const int group = asked < f.groups.count ? asked : f.groups.count - 1;
  const T* from = f.x.data + f.groups.offset(group, f.x.stride);
  HeldPack<T, width> x[packs];
  MONOMORPH_UNROLL
  for (int p = 0; p < packs; ++p)
    x[p] = HeldPack(group_pack<width, true>(from, member.column<width>(p), f.groups.features));
  const auto for_each_pack = [&](auto run) {
    MONOMORPH_UNROLL
    for (int p = 0; p < packs; ++p) run(x[p].pack(), member.column<width>(p));
  };
  Statistics<Compute<T>> of;
  if constexpr (source == Of::saved)
    of = saved<kind>(f, group);
  else
    of = statistics<kind, in_block, true, width>(f, member, for_each_pack);
  if (asked != group) return;
  if (source == Of::group && member.index == 0) save<kind>(f, group, of);
  T* to = f.y.data + f.groups.offset(group, f.y.stride);
  for_each_pack([&](const auto& pack, int column) {
    write_group_pack<true>(normalised_pack<true>(f, pack, of, column), to, column, f.groups.features);
  });
}

/// Groups that are not of whole packs, or longer than the registers of a block: each pass reads them again.
template <Kind kind, Of source, bool packed, int width, class T>
__global__ void __launch_bounds__(most_threads) normalise_long(Forward<T> f) {
  const Member member{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  const auto group = static_cast<int>(blockIdx.x);
  const T* from = f.x.data + f.groups.offset(group, f.x.stride);
  const auto for_each_pack = [&](auto run) {
    for (int column = member.column<width>(0); column < f.groups.features; column += member.team * width)
      run(group_pack<width, packed>(from, column, f.groups.features), column);
  };
  Statistics<Compute<T>> of;
  if constexpr (source == Of::saved)
    of = saved<kind>(f, group);
  else
    of = statistics<kind, true, packed, width>(f, member, for_each_pack);
  if (source == Of::group && member.index == 0) save<kind>(f, group, of);
  T* to = f.y.data + f.groups.offset(group, f.y.stride);
  for_each_pack([&](const auto& pack, int column) {
    write_group_pack<packed>(normalised_pack<packed>(f, pack, of, column), to, column, f.groups.features);
  });
}

/// Threads for a group: lanes where these hold it, else a block.
int team_for(int packs) {
  if (packs <= most_packs * warp_lanes) return lanes_for(packs);
  return std::min(round_up(ceil_div(packs, most_packs), warp_lanes), most_threads);
}

template <Kind kind, Of source, bool packed, int width, class T>
void start_long(Queue queue, const Forward<T>& f, int team) {
  const auto blocks = static_cast<unsigned>(f.groups.count),
             threads = static_cast<unsigned>(std::max(team, warp_lanes));
  launch(normalise_long<kind, source, packed, width, T>, {blocks, threads}, queue, f);
}

/// Of groups that begin and end as packs do.
template <Kind kind, Of source, int width, class T> void start_packed(Queue queue, const Forward<T>& f) {
  const int packs = ceil_div(f.groups.features, width), team = team_for(packs);
  const auto in_lanes = [&]<int each>() {
    const auto blocks = static_cast<unsigned>(ceil_div(f.groups.count, warps_threads / team));
    launch(normalise<kind, source, false, each, width, T>, {blocks, warps_threads}, queue, f, team);
  };
  if (packs <= warp_lanes) {
    in_lanes.template operator()<1>();
  } else if (packs <= 2 * warp_lanes) {
    in_lanes.template operator()<2>();
  } else if (packs <= most_packs * warp_lanes) {
    in_lanes.template operator()<most_packs>();
  } else if (packs <= most_packs * most_threads) {
    const auto blocks = static_cast<unsigned>(f.groups.count);
    launch(normalise<kind, source, true, most_packs, width, T>, {blocks, static_cast<unsigned>(team)}, queue, f, team);
  } else {
    start_long<kind, source, true, width>(queue, f, team);
  }
}

template <Kind kind, Of source>
void forward(Queue queue, const View& x, const View& weight, const View& bias, double epsilon, const View& y,
             const View& mean, const View& rstd, double weight_offset = no_weight_offset) {
  if (!x.present()) return;
  in_element_type(x.dtype, [&]<class T>() {
    using S = Compute<T>;
    constexpr int width = pack_width<T>();
    const Forward<T> f{groups_of(x, weight),
                       {x.as<const T>(), x.stride},
                       {y.as<T>(), y.stride},
                       weight.as<const T>(),
                       bias.present() ? bias.as<const T>() : nullptr,
                       mean.as<S>(),
                       rstd.as<S>(),
                       static_cast<S>(epsilon),
                       S(1) / static_cast<S>(weight.shape.cols),
                       static_cast<S>(weight_offset)};
    // Others are rare, as few models have such widths. The kernel that reads groups again computes them with the same
    // teams, and so with the same bits: kernels of their own would take nvcc as long as all of these.
    if (groups_of_packs(f.groups, width, x, y, weight, bias))
      start_packed<kind, source, width>(queue, f);
    else
      start_long<kind, source, false, width>(queue, f, team_for(ceil_div(f.groups.features, width)));
  });
}

}  // namespace

void layer_norm(Queue queue, View x, View weight, View bias, double epsilon, View y, View mean, View rstd) {
  const KernelSpan span(Work::elementwise, "layer_norm", queue.stream);
  forward<Kind::layer, Of::group>(queue, x, weight, bias, epsilon, y, mean, rstd);
}
void rms_norm(Queue queue, View x, View weight, View bias, double epsilon, View y, View rstd, double weight_offset) {
  const KernelSpan span(Work::elementwise, "rms_norm", queue.stream);
  forward<Kind::rms, Of::group>(queue, x, weight, bias, epsilon, y, View{}, rstd, weight_offset);
}
void layer_norm_recompute(Queue queue, View x, View weight, View bias, View mean, View rstd, View y) {
  const KernelSpan span(Work::elementwise, "layer_norm_recompute", queue.stream);
  forward<Kind::layer, Of::saved>(queue, x, weight, bias, 0, y, mean, rstd);
}
void rms_norm_recompute(Queue queue, View x, View weight, View bias, View rstd, View y, double weight_offset) {
  const KernelSpan span(Work::elementwise, "rms_norm_recompute", queue.stream);
  forward<Kind::rms, Of::saved>(queue, x, weight, bias, 0, y, View{}, rstd, weight_offset);
}

}  // namespace monomorph::cuda
