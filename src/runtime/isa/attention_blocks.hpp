#pragma once
#include "attention.hpp"
#include "attention_storage.hpp"

/// Where the blocks of a head lie. Legend: a block has `block` tokens at most; H features of a head, padded to whole
/// vectors.
namespace monomorph::kernels::MONOMORPH_ISA {
namespace {

constexpr Index max_features = 256;
template <class T> inline constexpr Index block = sizeof(T) == 4 ? 96 : 48;
static_assert(block<float> == padded_rows<float>(block<float>) && block<double> == padded_rows<double>(block<double>));
template <class T> inline constexpr Index tile_elements = block<T>* max_features;
constexpr double log2_e = 1.4426950408889634074;
constexpr double minus_infinity = -__builtin_inf();

/// The features of one head in one block of tokens.
template <class S>
Rows<S> head_block(const View& x, Index first_row, Index tokens, Index head, Index features, Index i) {
  const Index first = i * block<Compute<S>>;
  return {reinterpret_cast<S*>(x.data) + (first_row + first) * x.stride + head * features, x.stride,
          smaller(block<Compute<S>>, tokens - first), features};
}

template <class S> struct Head {
  const AttentionCall& call;
  Index sample, head, kv_head;
  Rows<S> query_rows(const View& x, Index i) const {
    return head_block<S>(x, sample * call.shape.tokens, call.shape.tokens, head, call.shape.head_dim, i);
  }
  Rows<S> key_rows(const View& x, Index i) const {
    return head_block<S>(x, sample * call.shape.tokens, call.shape.tokens, kv_head, call.shape.head_dim, i);
  }
  Compute<S>* lse(Index i) const {
    return reinterpret_cast<Compute<S>*>(call.lse_BNT.data) + (sample * call.shape.heads + head) * call.lse_BNT.stride +
           i * block<Compute<S>>;
  }
};

}  // namespace
}  // namespace monomorph::kernels::MONOMORPH_ISA
