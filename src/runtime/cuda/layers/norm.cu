#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/layers/norm_forward.hpp"
#include "runtime/cuda/layers/round_norm.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/cuda/sums/join_maximum.hpp"
#include "runtime/kernels/fp8.hpp"

namespace monomorph::cuda {
namespace {

/// A team holds its group in registers, so that it is read once: most_packs packs for a thread.
constexpr int most_packs = 4;

enum class Of { group, saved };  ///< where statistics come from

/// What kernels are to do. The kind and the source of statistics are members and not arguments of their templates,
/// which would make four times as many kernels for nvcc: kernels wait for memory, and all threads take the same branch.
template <class T> struct Norm {
  Forward<T> forward;
  NormKind kind;
  Of source;
};

/// Where a thread writes what it has normalised: to y, which may be x.
struct ToElements {
  template <bool packed, class S, int width, class T>
  __device__ void write(const Forward<T>& f, int group, int column, const Pack<S, width>& pack) {
    write_group_pack<packed>(pack, f.y.data + f.groups.offset(group, f.y.stride), column, f.groups.features);
  }
  __device__ void finish() const {}
};
/// Or rounded to bf16 and then to e4m3, groups one behind the other.
struct ToRounded {
  E4M3* to;
  const float* scale;
  std::int64_t* maximum;  ///< null, or what is joined with the greatest magnitude
  std::uint32_t greatest = 0;
  template <bool packed, int width>
  __device__ void write(const Forward<BFloat16>& f, int group, int column, const Pack<float, width>& pack) {
    static_assert(packed);
    if (column >= f.groups.features) return;
    Pack<E4M3, width> rounded;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) {
      const auto element = converted<BFloat16>(pack.at[i]);
      greatest = Greater()(greatest, magnitude_of(element));
      narrow(widen(element) * *scale, rounded.at[i]);
    }
    *reinterpret_cast<Pack<E4M3, width>*>(to + std::int64_t{group} * f.groups.features + column) = rounded;
  }
  /// All threads of a warp come.
  __device__ void finish() const {
    const std::uint32_t of_warp = joined_in_warp(greatest, warp_lanes, Greater());
    if (maximum != nullptr && threadIdx.x % warp_lanes == 0) join_maximum(maximum, of_warp);
  }
};

/// Threads that a multiprocessor must have the registers for at once. Without this bound nvcc gives a kernel as many as
/// its longest branch can use, and fewer threads of the others run than could. With a greater one it spills some.
template <class T, class To> constexpr int threads_of_multiprocessor() {
  if (std::same_as<To, ToRounded>) return 1024;
  return std::same_as<T, BFloat16> ? 1152 : 1536;
}
/// The blocks in which they come: of warps_threads each or, as some of these numbers are no multiple of most_threads,
/// two that are larger than that.
template <class T, class To> constexpr int blocks_of_multiprocessor(bool in_block) {
  constexpr int threads = threads_of_multiprocessor<T, To>();
  static_assert(threads / 2 >= most_threads && threads % warps_threads == 0);
  return in_block ? 2 : threads / warps_threads;
}

/// Those that are saved are asked for before the group, so that memory is waited for once.
template <class T> __device__ Statistics<Compute<T>> saved_if_any(const Norm<T>& norm, int group) {
  if (norm.source == Of::saved) return saved(norm.forward, norm.kind, group);
  return {};
}
/// Those of the group, by one thread of its team.
template <class T>
__device__ void save_once(const Norm<T>& norm, int group, const Member& member, const Statistics<Compute<T>>& of) {
  if (norm.source == Of::group && member.index == 0) save(norm.forward, norm.kind, group, of);
}

/// Groups of whole packs that a team holds in registers.
template <bool in_block, int packs, int width, class T, class To>
__global__ void __launch_bounds__(threads_of_multiprocessor<T, To>() / blocks_of_multiprocessor<T, To>(in_block),
                                  blocks_of_multiprocessor<T, To>(in_block)) normalise(Norm<T> norm, int team, To to) {
  const Forward<T>& f = norm.forward;
  const auto thread = static_cast<int>(threadIdx.x), teams = static_cast<int>(blockDim.x) / team;
  const Member member{thread % team, team};
  const int asked = static_cast<int>(blockIdx.x) * teams + thread / team;
  // Lanes without a group of their own take part in the others' sums, and read nothing: y may be x.
  const int group = asked < f.groups.count ? asked : f.groups.count - 1;
  auto of = saved_if_any(norm, group);
  const T* from = f.x.data + f.groups.offset(group, f.x.stride);
  HeldPack<T, width> x[packs]{};
  MONOMORPH_UNROLL
  for (int p = 0; p < packs; ++p)
    if (in_block || asked == group)  // a block has a group of its own
      x[p] = HeldPack(group_pack<width, true>(from, member.column<width>(p), f.groups.features));
  const auto for_each_pack = [&](auto run) {
    MONOMORPH_UNROLL
    for (int p = 0; p < packs; ++p) run(x[p].pack(), member.column<width>(p));
  };
  if (norm.source == Of::group) of = statistics<in_block, true, width>(f, norm.kind, member, for_each_pack);
  if (asked == group) {
    save_once(norm, group, member, of);
    for_each_pack([&](const auto& pack, int column) {
      to.template write<true>(f, group, column, normalised_pack<true>(f, pack, of, column));
    });
  }
  to.finish();
}

/// Groups that are not of whole packs, or longer than the registers of a block: each pass reads them again.
template <bool packed, int width, class T, class To>
__global__ void __launch_bounds__(most_threads) normalise_long(Norm<T> norm, To to) {
  const Forward<T>& f = norm.forward;
  const Member member{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  const auto group = static_cast<int>(blockIdx.x);
  auto of = saved_if_any(norm, group);
  const T* from = f.x.data + f.groups.offset(group, f.x.stride);
  const auto for_each_pack = [&](auto run) {
    for (int column = member.column<width>(0); column < f.groups.features; column += member.team * width)
      run(group_pack<width, packed>(from, column, f.groups.features), column);
  };
  if (norm.source == Of::group) of = statistics<true, packed, width>(f, norm.kind, member, for_each_pack);
  save_once(norm, group, member, of);
  for_each_pack([&](const auto& pack, int column) {
    to.template write<packed>(f, group, column, normalised_pack<packed>(f, pack, of, column));
  });
  to.finish();
}

/// Threads for a group: lanes where these hold it, else a block.
int team_for(int packs) {
  if (packs <= most_packs * warp_lanes) return lanes_for(packs);
  return std::min(round_up(ceil_div(packs, most_packs), warp_lanes), most_threads);
}

template <bool packed, int width, class T, class To>
void start_long(Queue queue, const Norm<T>& norm, int team, const To& to) {
  const auto blocks = static_cast<unsigned>(norm.forward.groups.count),
             threads = static_cast<unsigned>(std::max(team, warp_lanes));
  launch(normalise_long<packed, width, T, To>, {blocks, threads}, queue, norm, to);
}

/// Of groups that begin and end as packs do.
/// @tparam few whether groups of which a lane has one pack or two have kernels of their own, which are faster and give
/// the same bits
template <bool few, int width, class T, class To> void start_packed(Queue queue, const Norm<T>& norm, const To& to) {
  const Groups& groups = norm.forward.groups;
  const int packs = ceil_div(groups.features, width), team = team_for(packs);
  const auto in_lanes = [&]<int each>() {
    const auto blocks = static_cast<unsigned>(ceil_div(groups.count, warps_threads / team));
    launch(normalise<false, each, width, T, To>, {blocks, warps_threads}, queue, norm, team, to);
  };
  if constexpr (few) {
    if (packs <= warp_lanes) return in_lanes.template operator()<1>();
    if (packs <= 2 * warp_lanes) return in_lanes.template operator()<2>();
  }
  if (packs <= most_packs * warp_lanes) {
    in_lanes.template operator()<most_packs>();
  } else if (packs <= most_packs * most_threads) {
    const auto blocks = static_cast<unsigned>(groups.count);
    launch(normalise<true, most_packs, width, T, To>, {blocks, static_cast<unsigned>(team)}, queue, norm, team, to);
  } else {
    start_long<true, width>(queue, norm, team, to);
  }
}

template <class T>
Forward<T> forward_of(const View& x, const View& weight, const View& bias, double epsilon, const View& y,
                      const View& mean, const View& rstd, double weight_offset) {
  using S = Compute<T>;
  return {groups_of(x, weight),
          {x.as<const T>(), x.stride},
          {y.as<T>(), y.stride},
          weight.as<const T>(),
          bias.present() ? bias.as<const T>() : nullptr,
          mean.as<S>(),
          rstd.as<S>(),
          static_cast<S>(epsilon),
          S(1) / static_cast<S>(weight.shape.cols),
          static_cast<S>(weight_offset)};
}

void forward(Queue queue, NormKind kind, Of source, const View& x, const View& weight, const View& bias, double epsilon,
             const View& y, const View& mean, const View& rstd, double weight_offset = no_weight_offset) {
  if (!x.present()) return;
  in_element_type(x.dtype, [&]<class T>() {
    constexpr int width = pack_width<T>();
    const Norm<T> norm{forward_of<T>(x, weight, bias, epsilon, y, mean, rstd, weight_offset), kind, source};
    const Groups& groups = norm.forward.groups;
    constexpr ToElements to;
    // Others are rare, as few models have such widths, and fp64 is there for tests alone. The kernel that reads groups
    // again computes both with the same teams, and so with the same bits: kernels of their own would take nvcc as long
    // as all of these.
    if constexpr (!std::same_as<T, double>) {
      if (groups_of_packs(groups, width, x, y, weight, bias)) return start_packed<true, width>(queue, norm, to);
    }
    start_long<false, width>(queue, norm, team_for(ceil_div(groups.features, width)), to);
  });
}

}  // namespace

void round_norm(Queue queue, const NormedInput& norm, const float* scale, View to, std::int64_t* maximum) {
  const Norm<BFloat16> rounded{forward_of<BFloat16>(norm.x_MK, norm.weight_K, norm.bias_K, norm.epsilon, View{},
                                                    norm.mean_M, norm.rstd_M, weight_offset(norm.kind)),
                               norm.kind, norm.from_saved ? Of::saved : Of::group};
  start_packed<false, pack_width<BFloat16>()>(queue, rounded, ToRounded{to.as<E4M3>(), scale, maximum});
}

void layer_norm(Queue queue, View x, View weight, View bias, double epsilon, View y, View mean, View rstd) {
  const KernelSpan span(Work::elementwise, "layer_norm", queue.stream);
  forward(queue, NormKind::layer_norm, Of::group, x, weight, bias, epsilon, y, mean, rstd);
}
void rms_norm(Queue queue, View x, View weight, View bias, double epsilon, View y, View rstd, double weight_offset) {
  const KernelSpan span(Work::elementwise, "rms_norm", queue.stream);
  forward(queue, NormKind::rms_norm, Of::group, x, weight, bias, epsilon, y, View{}, rstd, weight_offset);
}
void layer_norm_recompute(Queue queue, View x, View weight, View bias, View mean, View rstd, View y) {
  const KernelSpan span(Work::elementwise, "layer_norm_recompute", queue.stream);
  forward(queue, NormKind::layer_norm, Of::saved, x, weight, bias, 0, y, mean, rstd);
}
void rms_norm_recompute(Queue queue, View x, View weight, View bias, View rstd, View y, double weight_offset) {
  const KernelSpan span(Work::elementwise, "rms_norm_recompute", queue.stream);
  forward(queue, NormKind::rms_norm, Of::saved, x, weight, bias, 0, y, View{}, rstd, weight_offset);
}

}  // namespace monomorph::cuda
