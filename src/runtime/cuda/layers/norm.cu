#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/layers/norm_groups.hpp"

#include <cmath>

namespace monomorph::cuda {
namespace {

/// A team holds its group in registers, so that it is read once: most_packs packs for a thread.
constexpr int warps_threads = 128, most_threads = 512, most_packs = 4;

enum class Of { group, saved };  ///< where statistics come from

template <class T> struct Forward {
  using S = Compute<T>;
  Groups groups;
  Rows<const T> x;
  Rows<T> y;
  const T *weight, *bias;
  S *mean, *rstd;
  S epsilon, per_feature;  ///< 1 / H
};

// The forward pass and the repetition must give the same bits, so both compute an element here.
template <class S> __device__ S normalised(S x, const Statistics<S>& of, S weight) {
  return (x - of.mean) * of.rstd * weight;
}

template <bool packed, int width, class T>
__device__ void normalise_pack(const Forward<T>& f, const Pack<T, width>& x, const Statistics<Compute<T>>& of, T* y,
                               int column) {
  using S = Compute<T>;
  const auto weight = group_pack<width, packed>(f.weight, column, f.groups.features);
  Pack<S, width> out;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) out.at[i] = normalised(converted<S>(x.at[i]), of, converted<S>(weight.at[i]));
  if (f.bias != nullptr) {
    const auto bias = group_pack<width, packed>(f.bias, column, f.groups.features);
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) out.at[i] = out.at[i] + converted<S>(bias.at[i]);
  }
  write_group_pack<packed>(out, y, column, f.groups.features);
}

/// Adds a pack's elements, or the squares of their distances from the mean, to a thread's sums.
template <class S, int width, class T> __device__ void add_elements(Pack<S, width>& sums, const Pack<T, width>& x) {
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) sums.at[i] += converted<S>(x.at[i]);
}
template <bool packed, class S, int width, class T>
__device__ void add_squares(Pack<S, width>& sums, const Pack<T, width>& x, S mean, int column, int features) {
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const S centred = in_group<packed>(column, i, features) ? converted<S>(x.at[i]) - mean : S(0);
    sums.at[i] += centred * centred;
  }
}

template <class S, int width> __device__ S sum_of(Pack<S, width> x) {
  MONOMORPH_UNROLL
  for (int half = width / 2; half > 0; half /= 2) {
    MONOMORPH_UNROLL
    for (int i = 0; i < half; ++i) x.at[i] += x.at[i + half];
  }
  return x.at[0];
}

template <bool in_block, class S, int width>
__device__ S team_total(const Pack<S, width>& sums, const Member& member, int turn) {
  const Pack<S, 1> own{sum_of(sums)};
  return in_block ? block_total(own, turn).at[0] : lanes_total(own, member.team).at[0];
}

/// @param for_each_pack calls its argument with each pack of the thread and the pack's column
template <Kind kind, bool in_block, bool packed, int width, class T, class ForEachPack>
__device__ Statistics<Compute<T>> statistics(const Forward<T>& f, const Member& member, ForEachPack for_each_pack) {
  using S = Compute<T>;
  const int features = f.groups.features;
  S mean = 0;
  if constexpr (kind == Kind::layer) {
    Pack<S, width> sums{};
    for_each_pack([&](const Pack<T, width>& x, int) { add_elements(sums, x); });
    mean = team_total<in_block>(sums, member, 0) * f.per_feature;
  }
  Pack<S, width> squares{};
  for_each_pack([&](const Pack<T, width>& x, int column) { add_squares<packed>(squares, x, mean, column, features); });
  const S square = team_total<in_block>(squares, member, 1) * f.per_feature;
  return {mean, S(1) / std::sqrt(square + f.epsilon)};
}

template <Kind kind, class T> __device__ Statistics<Compute<T>> saved(const Forward<T>& f, int group) {
  return {kind == Kind::layer ? f.mean[group] : Compute<T>(0), f.rstd[group]};
}
template <Kind kind, class T> __device__ void save(const Forward<T>& f, int group, const Statistics<Compute<T>>& of) {
  if constexpr (kind == Kind::layer) f.mean[group] = of.mean;
  f.rstd[group] = of.rstd;
}

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
  for_each_pack([&](const auto& pack, int column) { normalise_pack<true>(f, pack, of, to, column); });
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
  for_each_pack([&](const auto& pack, int column) { normalise_pack<packed>(f, pack, of, to, column); });
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
             const View& mean, const View& rstd) {
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
                       S(1) / static_cast<S>(weight.shape.cols)};
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
void rms_norm(Queue queue, View x, View weight, View bias, double epsilon, View y, View rstd) {
  const KernelSpan span(Work::elementwise, "rms_norm", queue.stream);
  forward<Kind::rms, Of::group>(queue, x, weight, bias, epsilon, y, View{}, rstd);
}
void layer_norm_recompute(Queue queue, View x, View weight, View bias, View mean, View rstd, View y) {
  const KernelSpan span(Work::elementwise, "layer_norm_recompute", queue.stream);
  forward<Kind::layer, Of::saved>(queue, x, weight, bias, 0, y, mean, rstd);
}
void rms_norm_recompute(Queue queue, View x, View weight, View bias, View rstd, View y) {
  const KernelSpan span(Work::elementwise, "rms_norm_recompute", queue.stream);
  forward<Kind::rms, Of::saved>(queue, x, weight, bias, 0, y, View{}, rstd);
}

}  // namespace monomorph::cuda
