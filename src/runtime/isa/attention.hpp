#pragma once
#include <monomorph/runtime/kernels/attention.hpp>
#include "runtime/machine/isa.hpp"

/// What src/runtime/cpu/attention.cpp divides among the threads and src/runtime/isa/*attention*.cpp compute. Tokens are
/// handled in blocks. The bits of a result depend on the arguments of its task alone.
namespace monomorph::cpu {

struct AttentionCall {
  View q, k, v, out, lse_BNT, dout, dq, dk, dv;
  AttentionShape shape;
  AttentionMask mask;
  const std::int32_t* document_starts;  ///< (B, T), or none
};
struct PagedAttentionCall {
  View q, k_cache, v_cache, out;
  AttentionShape shape;
  AttentionMask mask;
  PagedTokens tokens;
};

MONOMORPH_PER_ISA(std::int64_t attention_block(DType dtype);  // tokens
                  void attention_forward(const AttentionCall& call, std::int64_t sample, std::int64_t head,
                                         std::int64_t block);
                  // dq, dk and dv of all tokens and of all query heads of a key head; not for bf16 and fp16, which
                  // can't hold the sums of dq.
                  void attention_backward(const AttentionCall& call, std::int64_t sample, std::int64_t kv_head);
                  // The same bits in smaller tasks, at the price of computing the probabilities twice.
                  void attention_backward_keys(const AttentionCall& call, std::int64_t sample, std::int64_t kv_head,
                                               std::int64_t block);
                  void attention_backward_queries(const AttentionCall& call, std::int64_t sample, std::int64_t head,
                                                  std::int64_t block);
                  void paged_attention(const PagedAttentionCall& call, std::int64_t token, std::int64_t kv_head))

}  // namespace monomorph::cpu
