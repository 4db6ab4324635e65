#pragma once
#include "attention.hpp"
#include "attention_storage.hpp"
#include "runtime/kernels/row_mask.hpp"

/// Where the blocks of a head lie. Legend: a block has `block` tokens at most; H features of a head, padded to whole
/// vectors.
namespace monomorph::cpu::MONOMORPH_ISA {
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
  RowMask mask() const {
    const Index tokens = call.shape.tokens;
    return {call.mask, tokens, call.document_starts ? call.document_starts + sample * tokens : nullptr};
  }
  Index blocks() const { return (call.shape.tokens + block<Compute<S>> - 1) / block<Compute<S>>; }
  /// The first and the last block of keys that queries of block i see; they see some of every block between.
  Index first_block(Index i) const { return mask().keys(i * block<Compute<S>>).first / block<Compute<S>>; }
  Index last_block(Index i) const {
    constexpr Index size = block<Compute<S>>;
    return (mask().keys(smaller((i + 1) * size, call.shape.tokens) - 1).end - 1) / size;
  }
};

/// For each query of a block, which keys it sees: of the sequence, and of one block of keys. What pads the block is as
/// its last query. No end descends.
template <class T> struct SeenKeys {
  alignas(64) T first[block<T>], end[block<T>];  // whole numbers below 2^24, which fp32 holds
  alignas(64) std::int32_t first_in_block[block<T>], end_in_block[block<T>];

  /// Fills in what is seen of the block of keys that begins at first_key; first = end where that is nothing.
  void look_at(Index first_key) {
    const T begin = static_cast<T>(first_key);
    for (Index query = 0; query < block<T>; ++query) {
      first_in_block[query] = within(first[query] - begin);
      end_in_block[query] = within(end[query] - begin);
    }
  }

 private:
  static std::int32_t within(T key) {
    constexpr T size = static_cast<T>(block<T>);
    const T positive = key > 0 ? key : 0;
    return static_cast<std::int32_t>(positive < size ? positive : size);
  }
};

template <class S> void read_seen_keys(const Head<S>& head, Index i, Index queries, SeenKeys<Compute<S>>& seen) {
  using T = Compute<S>;
  const RowMask mask = head.mask();
  for (Index query = 0; query < queries; ++query) {
    const KeyRange keys = mask.keys(i * block<T> + query);
    seen.first[query] = static_cast<T>(static_cast<std::int32_t>(keys.first));
    seen.end[query] = static_cast<T>(static_cast<std::int32_t>(keys.end));
  }
  for (Index query = queries; query < block<T>; ++query) {
    seen.first[query] = seen.first[queries - 1];
    seen.end[query] = seen.end[queries - 1];
  }
}

}  // namespace
}  // namespace monomorph::cpu::MONOMORPH_ISA
