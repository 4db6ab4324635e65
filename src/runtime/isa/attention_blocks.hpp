#pragma once
#include "attention.hpp"
#include "attention_storage.hpp"

/// Where the blocks of a head lie. Legend: a block has `block` tokens at most; H features of a head, padded to whole
/// vectors.
namespace monomorph::kernels::MONOMORPH_ISA {
namespace {

inline constexpr Index max_features = 256;
template <class T> inline constexpr Index block = sizeof(T) == 4 ? 96 : 48;
static_assert(block<float> == padded_rows<float>(block<float>) && block<double> == padded_rows<double>(block<double>));
template <class T> inline constexpr Index tile_elements = block<T>* max_features;
inline constexpr double log2_e = 1.4426950408889634074;
inline constexpr double minus_infinity = -__builtin_inf();

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
  /// The first block of keys that queries of block i see.
  Index first_block(Index i) const {
    constexpr Index size = block<Compute<S>>;
    return call.document_starts ? call.document_starts[sample * call.shape.tokens + i * size] / size : 0;
  }
};

/// For each query of a block, the first token of the sequence that it sees. They never descend, and what pads the block
/// is as its last query.
template <class T> struct FirstKeys {
  alignas(64) T keys[block<T>];  // whole numbers below 2^24, which fp32 holds
  /// In a block of keys that begins at first_key, the first that query sees; block<T> if there is none.
  Index within(Index first_key, Index query) const {
    const Index key = static_cast<Index>(keys[query]) - first_key;
    return key < 0 ? 0 : smaller(key, block<T>);
  }
};

template <class S> void read_first_keys(const Head<S>& head, Index i, Index queries, FirstKeys<Compute<S>>& first) {
  using T = Compute<S>;
  const std::int32_t* starts = head.call.document_starts;
  if (starts) starts += head.sample * head.call.shape.tokens + i * block<T>;
  for (Index query = 0; query < block<T>; ++query)
    first.keys[query] = starts ? static_cast<T>(starts[smaller(query, queries - 1)]) : 0;
}

}  // namespace
}  // namespace monomorph::kernels::MONOMORPH_ISA
