#include "runtime/isa/attention.hpp"
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>

namespace monomorph::cpu {
namespace {

/// Blocks near the end of a sequence see more keys than those near its start: a task is one of each.
struct BlockPairs {
  std::int64_t blocks;
  std::int64_t size() const { return (blocks + 1) / 2; }
  template <class F> void run(std::int64_t pair, F&& f) const {
    f(pair);
    if (blocks - 1 - pair != pair) f(blocks - 1 - pair);
  }
};

BlockPairs pairs_of(const AttentionCall& call) {
  const std::int64_t block = MONOMORPH_SELECT(attention_block)(call.q.dtype);
  return {(call.shape.tokens + block - 1) / block};
}

/// Calls f(sample, head, block) for all blocks of all heads.
template <class F> void for_each_block(const AttentionCall& call, std::int64_t heads, F&& f) {
  const BlockPairs pairs = pairs_of(call);
  parallel_for(call.shape.batch * heads * pairs.size(), [&](std::int64_t task) {
    const std::int64_t sequence = task / pairs.size();
    pairs.run(task % pairs.size(), [&](std::int64_t block) { f(sequence / heads, sequence % heads, block); });
  });
}

/// Whether whole heads keep the threads busy: split into blocks, the work is seven products instead of five.
bool by_whole_heads(std::int64_t heads) {
  const std::int64_t threads = compute_threads(), rounds = (heads + threads - 1) / threads;
  return rounds * threads * 5 <= heads * 7;
}

}  // namespace

void tiled_attention(Queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                     const AttentionMask& mask, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "tiled_attention");
  const AttentionCall call{q, k, v, out, lse_BNT, {}, {}, {}, {}, shape, mask, document_starts};
  const auto forward = MONOMORPH_SELECT(attention_forward);
  for_each_block(call, shape.heads, [&](std::int64_t sample, std::int64_t head, std::int64_t block) {
    forward(call, sample, head, block);
  });
}

void tiled_attention_backward(Queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                              View dv, const AttentionShape& shape, const AttentionMask& mask,
                              const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "tiled_attention_backward");
  const AttentionCall call{q, k, v, out, lse_BNT, dout, dq, dk, dv, shape, mask, document_starts};
  if (size_of(q.dtype) > 2 && by_whole_heads(shape.batch * shape.kv_heads)) {
    const auto backward = MONOMORPH_SELECT(attention_backward);
    parallel_for(shape.batch * shape.kv_heads,
                 [&](std::int64_t task) { backward(call, task / shape.kv_heads, task % shape.kv_heads); });
    return;
  }
  const auto keys = MONOMORPH_SELECT(attention_backward_keys), queries = MONOMORPH_SELECT(attention_backward_queries);
  for_each_block(call, shape.kv_heads,
                 [&](std::int64_t sample, std::int64_t head, std::int64_t block) { keys(call, sample, head, block); });
  for_each_block(call, shape.heads, [&](std::int64_t sample, std::int64_t head, std::int64_t block) {
    queries(call, sample, head, block);
  });
}

void write_to_pages(Queue queue, View x, View cache, const PagedTokens& tokens) {
  const KernelSpan span(Work::attention, "write_to_pages");
  for (std::int64_t token = 0; token < tokens.tokens; ++token)
    copy(queue, x.rows(token, 1), cache.rows(tokens.row(token, tokens.position(token)), 1));
}

/// A thread has whole heads, as their tokens see more keys the later they are.
void paged_attention(Queue, View q, View k_cache, View v_cache, View out, const AttentionShape& shape,
                     const AttentionMask& mask, const PagedTokens& tokens) {
  const KernelSpan span(Work::attention, "paged_attention");
  const PagedAttentionCall call{q, k_cache, v_cache, out, shape, mask, tokens};
  const auto attend = MONOMORPH_SELECT(paged_attention);
  parallel_for(shape.tokens * shape.kv_heads,
               [&](std::int64_t task) { attend(call, task % shape.tokens, task / shape.tokens); });
}

}  // namespace monomorph::cpu
