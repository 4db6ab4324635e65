#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/layers/norm_groups.hpp"
#include "runtime/cuda/sums/partial_sums.hpp"

// With n = (x - mean) · rstd and d = dy · (weight + its offset), dx = rstd · (d - mean(d) - n · mean(d · n)), without
// mean(d) for the root-mean-square kind; dweight = Σ dy · n and dbias = Σ dy over groups. A team goes through groups
// that follow each other, a few at a time, and keeps its part of these two sums in registers; a second kernel adds up
// what the blocks have found. How many blocks there are depends on the shape alone, and so do the bits.
namespace monomorph::cuda {
namespace {

constexpr int one_pack_threads = 256;

/// The most threads of a block, and of all blocks that a multiprocessor has the registers for at once.
constexpr int threads_of_block(bool in_block, int packs) {
  return !in_block ? warps_threads : packs == 1 ? one_pack_threads : most_threads;
}
template <class T> constexpr int threads_at_once(bool in_block, int packs) {
  return in_block && packs == 1 && !std::same_as<T, double> ? 768 : 512;
}

template <class T> struct Backward {
  using S = Compute<T>;
  Groups groups;
  Rows<const T> dy, x;
  const T* weight;
  const S *mean, *rstd;  ///< the root-mean-square kind, which has no mean, reads rstd in its place
  S per_feature;         ///< 1 / H
  S weight_offset;
  Rows<T> dx;
  /// No argument of templates, which would make twice as many kernels for nvcc: all threads take the same branch.
  NormKind kind;
  bool add_to_dx;
  S* partial;     ///< of each block dweight, then dbias; null: neither is asked for
  int each_team;  ///< groups
  int team;
};

/// dweight and dbias of a pack of features.
template <class S, int width> struct WeightSums { Pack<S, width> weight, bias; };

/// Reads both and then chooses: around a branch nvcc puts the other accesses to a group in another order.
template <class T> __device__ Statistics<Compute<T>> saved(const Backward<T>& b, int group) {
  const auto mean = b.mean[group];
  return {b.kind == NormKind::layer_norm ? mean : Compute<T>(0), b.rstd[group]};
}

/// mean(d), or 0 for the root-mean-square kind. It is chosen and not multiplied, as the sum may be infinite.
template <class T> __device__ Compute<T> mean_d_of(const Backward<T>& b, Compute<T> sum_d) {
  return b.kind == NormKind::layer_norm ? sum_d * b.per_feature : Compute<T>(0);
}

/// Adds a pack of one group to all sums.
template <class S, int width, class T>
__device__ void add_pack(const Pack<T, width>& dy, const Pack<T, width>& x, const Pack<T, width>& weight,
                         S weight_offset, const Statistics<S>& of, S& sum_d, S& sum_dn, WeightSums<S, width>& sums) {
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const S incoming = converted<S>(dy.at[i]), n = (converted<S>(x.at[i]) - of.mean) * of.rstd;
    const S d = incoming * (converted<S>(weight.at[i]) + weight_offset);
    sum_d += d;
    sum_dn += d * n;
    sums.weight.at[i] += incoming * n;
    sums.bias.at[i] += incoming;
  }
}

/// @param before what dx has, if it is added to
template <bool packed, class S, int width, class T>
__device__ void write_gradient(const Backward<T>& b, const Pack<T, width>& dy, const Pack<T, width>& x,
                               const Pack<T, width>& before, const Pack<T, width>& weight, const Statistics<S>& of,
                               S mean_d, S mean_dn, T* dx, int column) {
  Pack<S, width> gradient;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const S d = converted<S>(dy.at[i]) * (converted<S>(weight.at[i]) + b.weight_offset);
    gradient.at[i] = of.rstd * (d - mean_d - (converted<S>(x.at[i]) - of.mean) * of.rstd * mean_dn);
  }
  if (b.add_to_dx) {
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) gradient.at[i] = converted<S>(before.at[i]) + gradient.at[i];
  }
  write_group_pack<packed>(gradient, dx, column, b.groups.features);
}

/// The sums of lanes that have the same features, in the first of them.
template <class S, int width> __device__ void add_teams_of_warp(WeightSums<S, width>& sums, int team) {
  for (int distance = team; distance < warp_lanes; distance *= 2) {
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) {
      sums.weight.at[i] += __shfl_xor_sync(all_lanes, sums.weight.at[i], distance);
      sums.bias.at[i] += __shfl_xor_sync(all_lanes, sums.bias.at[i], distance);
    }
  }
}

template <class S, int width> struct SumsOfWarps { WeightSums<S, width> of[warps_threads / warp_lanes][warp_lanes]; };

/// The sums of all teams of a block, in its first team.
template <class S, int width> __device__ void add_teams_of_block(WeightSums<S, width>& sums, int team) {
  add_teams_of_warp(sums, team);
  auto& all = block_memory<SumsOfWarps<S, width>>();
  const unsigned warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
  all.of[warp][lane] = sums;
  __syncthreads();
  MONOMORPH_UNROLL
  for (unsigned other = 1; other < warps_threads / warp_lanes; ++other) {
    const WeightSums<S, width>& more = all.of[other][lane];
    sums.weight = sums.weight + more.weight;
    sums.bias = sums.bias + more.bias;
  }
}

/// To what a block has found.
template <class S, int width>
__device__ void write_partial(const WeightSums<S, width>& sums, S* partial, int column, int features) {
  S* weight = partial + std::int64_t{2} * features * blockIdx.x;
  write_group_pack<false>(sums.weight, weight, column, features);
  write_group_pack<false>(sums.bias, weight + features, column, features);
}

/// Where a thread is: in a team that has some groups from one on.
template <int width> struct Place {
  Member member;
  int first, end;
  template <class T>
  __device__ explicit Place(const Backward<T>& b) : member{static_cast<int>(threadIdx.x) % b.team, b.team} {
    const int teams = static_cast<int>(blockDim.x) / b.team, own = static_cast<int>(threadIdx.x) / b.team;
    first = (static_cast<int>(blockIdx.x) * teams + own) * b.each_team;
    end = first + b.each_team < b.groups.count ? first + b.each_team : b.groups.count;
  }
  __device__ int column(int pack) const { return member.column<width>(pack); }
};

/// A thread's part of some groups that follow each other; zeros for those that are not the team's. What dx has is read
/// along with what it follows from, so that memory is waited for once.
template <int at_once, int packs, int width, class T> struct Held {
  HeldPack<T, width> dy[at_once][packs], x[at_once][packs], before[at_once][packs];
  Statistics<Compute<T>> of[at_once]{};
};

template <bool packed, int at_once, int packs, int width, class T>
__device__ Held<at_once, packs, width, T> held(const Backward<T>& b, const Place<width>& place, int first) {
  Held<at_once, packs, width, T> held;
  MONOMORPH_UNROLL
  for (int g = 0; g < at_once; ++g) {
    const int group = first + g;
    if (group >= place.end) continue;
    held.of[g] = saved(b, group);
    const T* const dy = b.dy.data + b.groups.offset(group, b.dy.stride);
    const T* const x = b.x.data + b.groups.offset(group, b.x.stride);
    const T* const dx = b.dx.data + b.groups.offset(group, b.dx.stride);
    MONOMORPH_UNROLL
    for (int p = 0; p < packs; ++p) {
      held.dy[g][p] = HeldPack(group_pack<width, packed>(dy, place.column(p), b.groups.features));
      held.x[g][p] = HeldPack(group_pack<width, packed>(x, place.column(p), b.groups.features));
      if (b.add_to_dx) held.before[g][p] = HeldPack(group_pack<width, packed>(dx, place.column(p), b.groups.features));
    }
  }
  return held;
}

/// @return for each group the thread's part of Σ d, then for each that of Σ d · n
template <bool packed, int at_once, int packs, int width, class T>
__device__ Pack<Compute<T>, 2 * at_once> add_held(const Backward<T>& b, const Place<width>& place,
                                                  Held<at_once, packs, width, T>& held,
                                                  WeightSums<Compute<T>, width> (&sums)[packs]) {
  Pack<Compute<T>, 2 * at_once> totals{};
  MONOMORPH_UNROLL
  for (int p = 0; p < packs; ++p) {
    const auto weight = group_pack<width, packed>(b.weight, place.column(p), b.groups.features);
    MONOMORPH_UNROLL
    for (int g = 0; g < at_once; ++g)
      add_pack(held.dy[g][p].pack(), held.x[g][p].pack(), weight, b.weight_offset, held.of[g], totals.at[g],
               totals.at[at_once + g], sums[p]);
  }
  return totals;
}

template <bool packed, int at_once, int packs, int width, class T>
__device__ void write_gradients(const Backward<T>& b, const Place<width>& place, int first,
                                Held<at_once, packs, width, T>& held, const Pack<Compute<T>, 2 * at_once>& totals) {
  Pack<Compute<T>, at_once> mean_d, mean_dn;
  MONOMORPH_UNROLL
  for (int g = 0; g < at_once; ++g) {
    mean_d.at[g] = mean_d_of(b, totals.at[g]);
    mean_dn.at[g] = totals.at[at_once + g] * b.per_feature;
  }
  MONOMORPH_UNROLL
  for (int p = 0; p < packs; ++p) {
    const auto weight = group_pack<width, packed>(b.weight, place.column(p), b.groups.features);
    MONOMORPH_UNROLL
    for (int g = 0; g < at_once; ++g) {
      if (first + g >= place.end) continue;
      T* const dx = b.dx.data + b.groups.offset(first + g, b.dx.stride);
      write_gradient<packed>(b, held.dy[g][p].pack(), held.x[g][p].pack(), held.before[g][p].pack(), weight, held.of[g],
                             mean_d.at[g], mean_dn.at[g], dx, place.column(p));
    }
  }
}

/// @tparam at_once groups that a team reads before it computes, so that many accesses are under way
template <bool in_block, int packs, int at_once, bool packed, int width, class T>
__global__ void __launch_bounds__(threads_of_block(in_block, packs),
                                  threads_at_once<T>(in_block, packs) / threads_of_block(in_block, packs))
    backward(Backward<T> b) {
  const Place<width> place(b);
  WeightSums<Compute<T>, width> sums[packs]{};
  // All teams of a warp come to its sums equally often, whether they have a group left or not.
  for (int done = 0; done < b.each_team; done += at_once) {
    auto groups = held<packed, at_once, packs>(b, place, place.first + done);
    const auto own = add_held<packed>(b, place, groups, sums);
    const auto totals = in_block ? block_total(own, done / at_once % 2) : lanes_total(own, b.team);
    write_gradients<packed>(b, place, place.first + done, groups, totals);
  }

  if (b.partial == nullptr) return;
  if constexpr (!in_block) add_teams_of_block(sums[0], b.team);
  if (static_cast<int>(threadIdx.x) >= b.team) return;
  MONOMORPH_UNROLL
  for (int p = 0; p < packs; ++p) write_partial(sums[p], b.partial, place.column(p), b.groups.features);
}

/// Groups longer than the registers of a block: they are read twice, and what a block has found lies in memory, where
/// each thread adds to its own features.
template <bool packed, int width, class T>
__global__ void __launch_bounds__(most_threads, 1) backward_long(Backward<T> b) {
  using S = Compute<T>;
  const int features = b.groups.features, step = b.team * width;
  const Place<width> place(b);
  S* const partial = b.partial + (b.partial != nullptr ? std::int64_t{2} * features * blockIdx.x : 0);
  for (int group = place.first; group < place.end; ++group) {
    const T* const dy = b.dy.data + b.groups.offset(group, b.dy.stride);
    const T* const x = b.x.data + b.groups.offset(group, b.x.stride);
    T* const dx = b.dx.data + b.groups.offset(group, b.dx.stride);
    const Statistics<S> of = saved(b, group);
    Pack<S, 2> totals{};
    for (int column = place.column(0); column < features; column += step) {
      WeightSums<S, width> sums{};
      if (b.partial != nullptr && group != place.first) {
        sums.weight = group_pack<width, false>(const_cast<const S*>(partial), column, features);
        sums.bias = group_pack<width, false>(const_cast<const S*>(partial) + features, column, features);
      }
      add_pack(group_pack<width, packed>(dy, column, features), group_pack<width, packed>(x, column, features),
               group_pack<width, packed>(b.weight, column, features), b.weight_offset, of, totals.at[0], totals.at[1],
               sums);
      if (b.partial != nullptr) write_partial(sums, b.partial, column, features);
    }
    totals = block_total(totals, (group - place.first) % 2);
    const S mean_d = mean_d_of(b, totals.at[0]), mean_dn = totals.at[1] * b.per_feature;
    for (int column = place.column(0); column < features; column += step) {
      const auto before =
          b.add_to_dx ? group_pack<width, packed>(const_cast<const T*>(dx), column, features) : Pack<T, width>{};
      write_gradient<packed>(b, group_pack<width, packed>(dy, column, features),
                             group_pack<width, packed>(x, column, features), before,
                             group_pack<width, packed>(b.weight, column, features), of, mean_d, mean_dn, dx, column);
    }
  }
}

/// How groups are shared out: as many threads as a GPU runs at once, but no team has so few groups that sums of blocks
/// take longer than theirs.
struct Share {
  int blocks, each_team;
};
Share share_of(int groups, int threads, int team, int all_threads) {
  constexpr int least_each = 8;
  const int teams = threads / team, most_blocks = multiprocessors_to_fill * (all_threads / threads);
  const int each = std::max(ceil_div(groups, most_blocks * teams), least_each);
  return {ceil_div(groups, each * teams), each};
}

struct WeightGradients {
  const View &dweight, &dbias;
  bool accumulate;
  bool present() const { return dweight.present() || dbias.present(); }
};

/// Both kernels.   @param all_threads that a multiprocessor runs at once
template <class T>
void run(Queue queue, void (*kernel)(Backward<T>), Backward<T> b, int threads, int team, int all_threads,
         const WeightGradients& to) {
  using S = Compute<T>;
  const Share share = share_of(b.groups.count, threads, team, all_threads);
  b.team = team;
  b.each_team = share.each_team;
  if (to.present())
    b.partial = reinterpret_cast<S*>(
        workspace(queue, std::int64_t{2} * share.blocks * b.groups.features * static_cast<std::int64_t>(sizeof(S))));
  launch(kernel, {static_cast<unsigned>(share.blocks), static_cast<unsigned>(threads)}, queue, b);
  if (to.dweight.present())
    add_up<S>(queue, b.partial, std::int64_t{2} * b.groups.features, share.blocks, to.dweight, to.accumulate);
  if (to.dbias.present())
    add_up<S>(queue, b.partial + b.groups.features, std::int64_t{2} * b.groups.features, share.blocks, to.dbias,
              to.accumulate);
}

/// @tparam at_once groups that a team reads before it computes
template <bool in_block, int packs, int at_once, bool packed, int width, class T>
void run_held(Queue queue, const Backward<T>& b, int threads, int team, const WeightGradients& to) {
  run(queue, backward<in_block, packs, at_once, packed, width, T>, b, threads, team,
      threads_at_once<T>(in_block, packs), to);
}

template <bool packed, int width, class T> void start(Queue queue, const Backward<T>& b, const WeightGradients& to) {
  constexpr int four = packed ? 4 : 2, two = packed ? 2 : 1;  // views that are not aligned need registers, too
  const int packs = ceil_div(b.groups.features, width);
  if (packs <= warp_lanes) {
    run_held<false, 1, four, packed, width>(queue, b, warps_threads, lanes_for(packs), to);
  } else if (packs <= one_pack_threads) {
    const int threads = round_up(packs, warp_lanes);
    run_held<true, 1, two, packed, width>(queue, b, threads, threads, to);
  } else if (packs <= 2 * most_threads) {
    const int threads = round_up(ceil_div(packs, 2), warp_lanes);
    run_held<true, 2, two, packed, width>(queue, b, threads, threads, to);
  } else {
    run(queue, backward_long<packed, width, T>, b, most_threads, most_threads, most_threads, to);
  }
}

void backward(Queue queue, NormKind kind, const View& dy, const View& x, const View& weight, const View& mean,
              const View& rstd, const View& dx, bool add_to_dx, const WeightGradients& to,
              double weight_offset = no_weight_offset) {
  in_element_type(x.dtype, [&]<class T>() {
    using S = Compute<T>;
    constexpr int width = pack_width<T>();
    const Backward<T> b{groups_of(x, weight),
                        {dy.as<const T>(), dy.stride},
                        {x.as<const T>(), x.stride},
                        weight.as<const T>(),
                        (kind == NormKind::layer_norm ? mean : rstd).as<const S>(),
                        rstd.as<const S>(),
                        S(1) / static_cast<S>(weight.shape.cols),
                        static_cast<S>(weight_offset),
                        {dx.as<T>(), dx.stride},
                        kind,
                        add_to_dx,
                        nullptr,
                        0,
                        0};
    // Others are rare. fp64 is there for tests alone, so theirs are the only kernels of it: they give the same bits.
    if constexpr (!std::same_as<T, double>) {
      if (groups_of_packs(b.groups, width, dy, x, weight, dx)) return start<true, width>(queue, b, to);
    }
    start<false, width>(queue, b, to);
  });
}

}  // namespace

void layer_norm_backward(Queue queue, View dy, View x, View weight, View mean, View rstd, View dx, bool add_to_dx,
                         View dweight, View dbias, bool accumulate) {
  const KernelSpan span(Work::elementwise, "layer_norm_backward", queue.stream);
  if (!x.present()) return;
  backward(queue, NormKind::layer_norm, dy, x, weight, mean, rstd, dx, add_to_dx, {dweight, dbias, accumulate});
}
void rms_norm_backward(Queue queue, View dy, View x, View weight, View rstd, View dx, bool add_to_dx, View dweight,
                       View dbias, bool accumulate, double weight_offset) {
  const KernelSpan span(Work::elementwise, "rms_norm_backward", queue.stream);
  if (!x.present()) return;
  backward(queue, NormKind::rms_norm, dy, x, weight, View{}, rstd, dx, add_to_dx, {dweight, dbias, accumulate},
           weight_offset);
}

}  // namespace monomorph::cuda
