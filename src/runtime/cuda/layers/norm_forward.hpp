#pragma once
#include "runtime/cuda/layers/norm_groups.hpp"

#include <cmath>

/// What a thread does for its group in the forward pass of a norm.
namespace monomorph::cuda {
namespace {

template <class T> struct Forward {
  using S = Compute<T>;
  Groups groups;
  Rows<const T> x;
  Rows<T> y;
  const T *weight, *bias;
  S *mean, *rstd;
  S epsilon, per_feature;  ///< 1 / H
  S weight_offset;
};

// The forward pass and the repetition must give the same bits, so both compute an element here.
template <class S> __device__ S normalised(S x, const Statistics<S>& of, S weight) {
  return (x - of.mean) * of.rstd * weight;
}

template <bool packed, int width, class T>
__device__ Pack<Compute<T>, width> normalised_pack(const Forward<T>& f, const Pack<T, width>& x,
                                                   const Statistics<Compute<T>>& of, int column) {
  using S = Compute<T>;
  const auto weight = group_pack<width, packed>(f.weight, column, f.groups.features);
  Pack<S, width> out;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i)
    out.at[i] = normalised(converted<S>(x.at[i]), of, converted<S>(weight.at[i]) + f.weight_offset);
  if (f.bias != nullptr) {
    const auto bias = group_pack<width, packed>(f.bias, column, f.groups.features);
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) out.at[i] = out.at[i] + converted<S>(bias.at[i]);
  }
  return out;
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

/// @param kind the same in all threads, so that they take one branch; what the root-mean-square kind subtracts as a
/// mean is 0, which changes no bit
/// @param for_each_pack calls its argument with each pack of the thread and the pack's column
template <bool in_block, bool packed, int width, class T, class ForEachPack>
__device__ Statistics<Compute<T>> statistics(const Forward<T>& f, NormKind kind, const Member& member,
                                             ForEachPack for_each_pack) {
  using S = Compute<T>;
  const int features = f.groups.features;
  S mean = 0;
  if (kind == NormKind::layer_norm) {
    Pack<S, width> sums{};
    for_each_pack([&](const Pack<T, width>& x, int) { add_elements(sums, x); });
    mean = team_total<in_block>(sums, member, 0) * f.per_feature;
  }
  Pack<S, width> squares{};
  for_each_pack([&](const Pack<T, width>& x, int column) { add_squares<packed>(squares, x, mean, column, features); });
  const S square = team_total<in_block>(squares, member, 1) * f.per_feature;
  return {mean, S(1) / std::sqrt(square + f.epsilon)};
}

template <class T> __device__ Statistics<Compute<T>> saved(const Forward<T>& f, NormKind kind, int group) {
  return {kind == NormKind::layer_norm ? f.mean[group] : Compute<T>(0), f.rstd[group]};
}
template <class T>
__device__ void save(const Forward<T>& f, NormKind kind, int group, const Statistics<Compute<T>>& of) {
  if (kind == NormKind::layer_norm) f.mean[group] = of.mean;
  f.rstd[group] = of.rstd;
}

}  // namespace
}  // namespace monomorph::cuda
