#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include <vector>
#include "runtime/isa/vector_math.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/row_mask.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

/// Attention with dropout on the probabilities, a row of scores at a time. Legend: i is a query's position, j a key's.
namespace monomorph::cpu {
namespace {

/// What the probabilities of one query row are multiplied by: 0, or 1 / (1 - rate).
class DropoutRow {
 public:
  DropoutRow(const DropoutKey& dropout, std::int64_t sample, std::int64_t position)
      : threshold_(static_cast<std::uint64_t>(dropout.rate * 4294967296.0)), kept_(1 / (1 - dropout.rate)) {
    const auto step = random::philox({low(dropout.step), high(dropout.step), dropout.layer, dropout.site},
                                     {low(dropout.seed), high(dropout.seed)});
    const std::uint64_t global = dropout.first_sample + static_cast<std::uint64_t>(sample);
    const auto row = random::philox({low(global), high(global), static_cast<std::uint32_t>(position),
                                     static_cast<std::uint32_t>(random::Purpose::dropout)},
                                    {step[0], step[1]});
    key_ = {row[0], row[1]};
  }
  double operator[](std::uint64_t element) {
    if (element / 4 != drawn_) {
      drawn_ = element / 4;
      words_ = random::philox({low(drawn_), high(drawn_), 0, 0}, key_);
    }
    return words_[element % 4] < threshold_ ? 0.0 : kept_;
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
  std::uint64_t threshold_, drawn_ = ~0ull;
  double kept_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> words_{};
};

/// A thread's workspace, which grows in the first step only.
template <class T> T* workspace_for(std::int64_t elements) {
  thread_local std::vector<T> workspace;
  if (workspace.size() < static_cast<std::size_t>(elements)) workspace.resize(static_cast<std::size_t>(elements));
  return workspace.data();
}

/// One head of one sequence.
template <class S> struct HeadOf {
  const AttentionShape& shape;
  std::int64_t sample, head;
  RowMask mask;
  std::int64_t kv_head() const { return head / (shape.heads / shape.kv_heads); }
  S* row(const View& x, std::int64_t position, std::int64_t column_head) const {
    return x.as<S>() + (sample * shape.tokens + position) * x.stride + column_head * shape.head_dim;
  }
  S* query(const View& x, std::int64_t i) const { return row(x, i, head); }
  S* key(const View& x, std::int64_t j) const { return row(x, j, kv_head()); }
  Compute<S>& lse(const View& x, std::int64_t i) const {
    return x.as<Compute<S>>()[(sample * shape.heads + head) * x.stride + i];
  }
  std::uint64_t element(std::int64_t j) const { return static_cast<std::uint64_t>(head * shape.tokens + j); }
};

template <class S, class T> void widen_row(const S* from, T* to, std::int64_t n) {
  for (std::int64_t h = 0; h < n; ++h) to[h] = widen(from[h]);
}
template <class S, class T> void add_row(T* to, T factor, const S* from, std::int64_t n) {
  for (std::int64_t h = 0; h < n; ++h) to[h] += factor * widen(from[h]);
}
template <class S, class T> void narrow_row(const T* from, S* to, std::int64_t n) {
  for (std::int64_t h = 0; h < n; ++h) narrow(from[h], to[h]);
}

/// What the softmax takes of a product of a query and a key, and how that follows the product.
template <class T> struct Score {
  T value, slope;
  Score(T product, const AttentionShape& shape)
      : value(product * static_cast<T>(shape.scale)), slope(static_cast<T>(shape.scale)) {
    if (shape.cap == 0) return;
    value = SoftCap<T>(shape.cap)(value);
    slope = SoftCapGradient<T>(shape.cap)(value, slope);
  }
};

template <class S>
void forward_head(const View& q, const View& k, const View& v, const View& out, const View& lse, const HeadOf<S>& head,
                  const DropoutKey& dropout) {
  using T = Compute<S>;
  const auto& [batch, tokens, heads, kv_heads, features, scale, cap] = head.shape;
  T* query = workspace_for<T>(tokens + 2 * features);
  T* sums = query + features;
  T* scores = sums + features;
  for (std::int64_t i = 0; i < tokens; ++i) {
    widen_row(head.query(q, i), query, features);
    T highest = -std::numeric_limits<T>::infinity(), total = 0;
    const KeyRange seen = head.mask.keys(i);
    for (std::int64_t j = seen.first; j < seen.end; ++j) {
      scores[j] = Score<T>(dot(query, head.key(k, j), features), head.shape).value;
      highest = scores[j] > highest ? scores[j] : highest;
    }
    for (std::int64_t j = seen.first; j < seen.end; ++j) total += scores[j] = std::exp(scores[j] - highest);
    DropoutRow dropped(dropout, head.sample, i);
    std::fill(sums, sums + features, T{0});
    for (std::int64_t j = seen.first; j < seen.end; ++j)
      add_row(sums, scores[j] / total * static_cast<T>(dropped[head.element(j)]), head.key(v, j), features);
    narrow_row(sums, head.query(out, i), features);
    head.lse(lse, i) = highest + std::log(total);
  }
}

struct BackwardViews {
  View q, k, v, out, lse, dout, dq, dk, dv;
};

/// Writes dq of a query head; adds to dkeys and dvalues, (T, H).
template <class S>
void backward_query_head(const BackwardViews& x, const HeadOf<S>& head, const DropoutKey& dropout, Compute<S>* rows,
                         Compute<S>* dkeys, Compute<S>* dvalues) {
  using T = Compute<S>;
  const auto& shape = head.shape;
  const std::int64_t features = shape.head_dim;
  T *query = rows, *dout = rows + features, *dquery = rows + 2 * features;
  for (std::int64_t i = 0; i < shape.tokens; ++i) {
    widen_row(head.query(x.q, i), query, features);
    widen_row(head.query(x.dout, i), dout, features);
    std::fill(dquery, dquery + features, T{0});
    const T delta = dot(dout, head.query(x.out, i), features), lse = head.lse(x.lse, i);
    DropoutRow dropped(dropout, head.sample, i);
    const KeyRange seen = head.mask.keys(i);
    for (std::int64_t j = seen.first; j < seen.end; ++j) {
      const Score<T> score(dot(query, head.key(x.k, j), features), shape);
      const T p = std::exp(score.value - lse);
      const T factor = static_cast<T>(dropped[head.element(j)]);
      const T ds = p * (factor * dot(dout, head.key(x.v, j), features) - delta) * score.slope;
      add_row(dvalues + j * features, p * factor, dout, features);
      add_row(dkeys + j * features, ds, query, features);
      add_row(dquery, ds, head.key(x.k, j), features);
    }
    narrow_row(dquery, head.query(x.dq, i), features);
  }
}

template <class S> void backward_kv_head(const BackwardViews& x, HeadOf<S> head, const DropoutKey& dropout) {
  using T = Compute<S>;
  const auto& shape = head.shape;
  const std::int64_t features = shape.head_dim, elements = shape.tokens * features, first = head.head;
  T* dkeys = workspace_for<T>(2 * elements + 3 * features);
  T* dvalues = dkeys + elements;
  std::fill(dkeys, dkeys + 2 * elements, T{0});
  for (; head.head < first + shape.heads / shape.kv_heads; ++head.head)
    backward_query_head(x, head, dropout, dvalues + elements, dkeys, dvalues);
  head.head = first;
  for (std::int64_t j = 0; j < shape.tokens; ++j) {
    narrow_row(dkeys + j * features, head.key(x.dk, j), features);
    narrow_row(dvalues + j * features, head.key(x.dv, j), features);
  }
}

RowMask row_mask(const AttentionMask& mask, const AttentionShape& shape, const std::int32_t* document_starts,
                 std::int64_t sample) {
  return {mask, shape.tokens, document_starts ? document_starts + sample * shape.tokens : nullptr};
}

}  // namespace

void reference_attention(Queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                         const AttentionMask& mask, const DropoutKey& key, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "reference_attention");
  in_element_type(q.dtype, [&]<class S>() {
    parallel_for(shape.batch * shape.heads, [&](std::int64_t task) {
      const std::int64_t sample = task / shape.heads;
      const HeadOf<S> head{shape, sample, task % shape.heads, row_mask(mask, shape, document_starts, sample)};
      forward_head(q, k, v, out, lse_BNT, head, key);
    });
  });
}

void reference_attention_backward(Queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                                  View dv, const AttentionShape& shape, const AttentionMask& mask,
                                  const DropoutKey& key, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "reference_attention_backward");
  const BackwardViews views{q, k, v, out, lse_BNT, dout, dq, dk, dv};
  in_element_type(q.dtype, [&]<class S>() {
    parallel_for(shape.batch * shape.kv_heads, [&](std::int64_t task) {
      const std::int64_t sample = task / shape.kv_heads;
      const std::int64_t head = task % shape.kv_heads * (shape.heads / shape.kv_heads);
      const RowMask rows = row_mask(mask, shape, document_starts, sample);
      backward_kv_head(views, HeadOf<S>{shape, sample, head, rows}, key);
    });
  });
}

}  // namespace monomorph::cpu
