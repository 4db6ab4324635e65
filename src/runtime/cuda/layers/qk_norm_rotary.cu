#include <monomorph/runtime/cuda/qk_norm_rotary.hpp>

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/layers/norm_forward.hpp"
#include "runtime/cuda/layers/rotation.hpp"

#include <bit>

/// Heads are normalised by the teams of lanes that normalise them in a kernel of its own, and rounded as they are
/// there; only then a lane gets the pack with which its own is rotated.
namespace monomorph::cuda {
namespace {

template <class T> struct NormRotary {
  NormKind kind;
  Forward<T> q, k;
  Angles<Compute<T>> angles;
};

/// One of two norms, member by member: nvcc 13.0 leaves out members where one is assigned over the other as a whole, so
/// that keys were read where queries are.
template <class T> __device__ Forward<T> either(bool is_first, const Forward<T>& first, const Forward<T>& second) {
  return {{is_first ? first.groups.count : second.groups.count, is_first ? first.groups.per_row : second.groups.per_row,
           first.groups.features},
          {is_first ? first.x.data : second.x.data, is_first ? first.x.stride : second.x.stride},
          {is_first ? first.y.data : second.y.data, is_first ? first.y.stride : second.y.stride},
          is_first ? first.weight : second.weight,
          is_first ? first.bias : second.bias,
          is_first ? first.mean : second.mean,
          is_first ? first.rstd : second.rstd,
          first.epsilon,
          first.per_feature,
          first.weight_offset};
}

/// The norm that a head of a row has, and its number among those of that norm.
template <class T> struct OwnHead {
  Forward<T> norm;
  int row, group;
  __device__ OwnHead(const NormRotary<T>& of, int head_of_all) {
    const int queries = of.q.groups.per_row, keys = of.k.groups.per_row, all = queries + keys;
    const int head = head_of_all % all;
    row = head_of_all / all;
    const bool is_query = head < queries;
    norm = either(is_query, of.q, of.k);
    group = is_query ? row * queries + head : row * keys + head - queries;
  }
};

/// The pack of another lane of the warp. All lanes must come.
template <class T, int width> __device__ Pack<T, width> pack_of_lane(const Pack<T, width>& own, int lane) {
  struct Words {
    std::uint32_t at[sizeof(Pack<T, width>) / sizeof(std::uint32_t)];
  };
  auto words = std::bit_cast<Words>(own);
  MONOMORPH_UNROLL
  for (std::uint32_t& word : words.at) word = __shfl_sync(all_lanes, word, lane);
  return std::bit_cast<Pack<T, width>>(words);
}

template <class T, int width> __device__ Pack<T, width> rounded(const Pack<Compute<T>, width>& x) {
  Pack<T, width> stored;
  write_pack(x, stored.at);
  return stored;
}

/// One of two packs, element by element: what is chosen by its address lies in local memory.
template <class T, int width>
__device__ Pack<T, width> either(bool is_first, const Pack<T, width>& first, const Pack<T, width>& second) {
  Pack<T, width> chosen;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) chosen.at[i] = is_first ? first.at[i] : second.at[i];
  return chosen;
}

/// A lane has a pack of a head. y may be x.
template <int width, class T>
__global__ void __launch_bounds__(warps_threads, 1) normalise_and_rotate(NormRotary<T> of, int heads, int team) {
  using S = Compute<T>;
  const auto thread = static_cast<int>(threadIdx.x), teams = warps_threads / team;
  const Member member{thread % team, team};
  const int asked = static_cast<int>(blockIdx.x) * teams + thread / team;
  // Lanes without a head of their own take part in what the others' do together, and read nothing: y may be x.
  const bool has_head = asked < heads;
  const OwnHead<T> own(of, has_head ? asked : heads - 1);
  const Forward<T>& f = own.norm;
  const int features = f.groups.features, column = member.column<width>(0);
  Pack<T, width> x{};
  if (has_head) x = group_pack<width, true>(f.x.data + f.groups.offset(own.group, f.x.stride), column, features);
  const auto statistics_of = statistics<false, true, width>(f, of.kind, member, [&](auto run) { run(x, column); });
  const Pack<T, width> normal = rounded<T>(normalised_pack<true>(f, x, statistics_of, column));

  const int half = features / 2, partner = column < half ? column + half : column - half;
  const bool is_low = column < half, is_of_head = column < features;
  const Pack<T, width> other = pack_of_lane(normal, thread - member.index + (is_of_head ? partner / width : 0));
  if (!has_head || !is_of_head) return;
  if (member.index == 0) save(f, of.kind, own.group, statistics_of);

  const std::int64_t position = of.angles.position(own.row);
  const int angle = is_low ? column : partner;
  const auto cos = read_pack<S, width>(of.angles.cos.data + position * of.angles.cos.stride + angle),
             sine = read_pack<S, width>(of.angles.sin.data + position * of.angles.sin.stride + angle);
  Halves<S, width> pair{read_pack<S, width>(either(is_low, normal, other).at),
                        read_pack<S, width>(either(is_low, other, normal).at)};
  rotate(pair, cos, sine);
  write_pack(either(is_low, pair.low, pair.high), f.y.data + f.groups.offset(own.group, f.y.stride) + column);
}

template <class T> Forward<T> forward_of(const HeadNorm& of, const View& y, double epsilon, double weight_offset) {
  using S = Compute<T>;
  return {groups_of(of.x_MN, of.weight_H),
          {of.x_MN.as<const T>(), of.x_MN.stride},
          {y.as<T>(), y.stride},
          of.weight_H.as<const T>(),
          of.bias_H.present() ? of.bias_H.as<const T>() : nullptr,
          of.mean_MN.as<S>(),
          of.rstd_MN.as<S>(),
          static_cast<S>(epsilon),
          S(1) / static_cast<S>(of.weight_H.shape.cols),
          static_cast<S>(weight_offset)};
}

/// Whether a lane can have a pack of each half of a head.
template <class T> bool lanes_hold_heads(const QkNormRotary& of) {
  constexpr int width = pack_width<T>();
  const auto in_packs = [&](const HeadNorm& norm, const View& y) {
    return groups_of_packs(groups_of(norm.x_MN, norm.weight_H), width, norm.x_MN, y, norm.weight_H, norm.bias_H);
  };
  const std::int64_t half = of.cos_TH.shape.cols;
  return half % width == 0 && 2 * half <= std::int64_t{warp_lanes} * width && in_packs(of.q, of.q_M()) &&
         in_packs(of.k, of.k_M()) && rows_start_access(of.cos_TH) && rows_start_access(of.sin_TH);
}

template <class T> void start(Queue queue, NormKind kind, const QkNormRotary& of) {
  constexpr int width = pack_width<T>();
  const NormRotary<T> norms{kind, forward_of<T>(of.q, of.q_M(), of.epsilon, weight_offset(kind)),
                            forward_of<T>(of.k, of.k_M(), of.epsilon, weight_offset(kind)),
                            angles_of<Compute<T>>(queue, of.cos_TH, of.sin_TH, 0, of.tokens, of.document_starts_M,
                                                  of.qk_M.shape.rows)};
  const int heads = norms.q.groups.count + norms.k.groups.count, team = lanes_for(norms.q.groups.features / width);
  const auto blocks = static_cast<unsigned>(ceil_div(heads, warps_threads / team));
  launch(normalise_and_rotate<width, T>, {blocks, warps_threads}, queue, norms, heads, team);
}

}  // namespace

void qk_norm_rotary(Queue queue, NormKind kind, const QkNormRotary& of) {
  if (!of.qk_M.present()) return;
  in_element_type(of.qk_M.dtype, [&]<class T>() {
    if (!lanes_hold_heads<T>(of))
      return with_norm_kind(kind, [&]<NormKind norm> { normalize_then_rotate<norm>(queue, of); });
    const KernelSpan span(Work::elementwise, "qk_norm_rotary", queue.stream);
    start<T>(queue, kind, of);
  });
}

}  // namespace monomorph::cuda
