#include "runtime/cuda/attention/cudnn_attention.hpp"

#include <monomorph/device/cudnn_attention.hpp>

#include <map>
#include <mutex>

#include "runtime/cuda/attention/attention_pieces.hpp"
#include "runtime/cuda/attention/cudnn_plan.hpp"

namespace monomorph::cuda {
namespace {

device::AttentionExtent extent_of(const AttentionShape& s) {
  return {s.batch, s.tokens, s.heads, s.kv_heads, s.head_dim};
}

/// The plans of this process.
class Plans {
 public:
  void run(Queue queue, Direction direction, const AttentionCall& call) {
    const std::lock_guard lock(mutex_);
    run_in_parts(queue, direction, call);
  }

 private:
  const CudnnPlan& plan_of(const CudnnPlanKey& key) {
    auto found = plans_.find(key);
    if (found == plans_.end()) found = plans_.emplace(key, CudnnPlan(key)).first;
    return found->second;
  }

  /// Parts are those that the plan of memory counts, whatever this GPU asks for, or smaller ones where it asks for
  /// more.
  void run_in_parts(Queue queue, Direction direction, const AttentionCall& call) {
    const device::AttentionExtent whole = extent_of(call.shape);
    if (direction == Direction::backward) {
      const device::AttentionExtent part = device::gradient_part(whole, device::cudnn_gradient_bytes(whole));
      if (part != whole) return run_each(queue, direction, call, part);
    }
    const CudnnPlan& plan = plan_of(key_of(direction, call));
    const device::AttentionExtent part = device::gradient_part(whole, plan.workspace_bytes());
    if (part != whole) return run_each(queue, direction, call, part);
    plan.run(queue, call);
  }
  void run_each(Queue queue, Direction direction, const AttentionCall& call, const device::AttentionExtent& part) {
    for (std::int64_t i = 0; i < call.shape.batch; i += part.batch)
      for (std::int64_t head = 0; head < call.shape.kv_heads; head += part.kv_heads)
        run_in_parts(queue, direction, piece_of(call, i, part.batch, head, part.kv_heads));
  }

  std::mutex mutex_;
  std::map<CudnnPlanKey, CudnnPlan> plans_;
};

/// Never destroyed: CUDA may have gone before it when the process ends.
Plans& plans() {
  static Plans& plans = *new Plans;
  return plans;
}

bool rows_begin_accesses(const View& x) {
  constexpr std::int64_t access_elements = 8, access_bytes = 16;
  return x.stride % access_elements == 0 && reinterpret_cast<std::uintptr_t>(x.data) % access_bytes == 0;
}

bool operands_fit(const AttentionCall& call) {
  for (const View& x : {call.q, call.k, call.v, call.out, call.dout, call.dq, call.dk, call.dv})
    if (x.data != nullptr && (x.dtype != call.q.dtype || !rows_begin_accesses(x))) return false;
  return call.lse_BNT.dtype == DType::fp32 && call.lse_BNT.stride == call.shape.tokens;
}

}  // namespace

CudnnPlanKey key_of(Direction direction, const AttentionCall& call) {
  const AttentionShape& s = call.shape;
  CudnnPlanKey key{direction,  call.q.dtype, s.batch,
                   s.tokens,   s.heads,      s.kv_heads,
                   s.head_dim, s.scale,      *band_of(call.mask, s.tokens),
                   {}};
  const View* views[] = {&call.q, &call.k, &call.v, &call.out, &call.lse_BNT, &call.dout, &call.dq, &call.dk, &call.dv};
  for (std::int64_t id = q_id; id < operands_end; ++id) key.strides[id] = views[id - q_id]->stride;
  return key;
}

bool cudnn_takes(const AttentionCall& call) {
  const bool narrow = call.q.dtype == DType::bf16 || call.q.dtype == DType::fp16;
  return narrow && call.document_starts == nullptr && call.shape.cap == 0 &&
         device::cudnn_takes(extent_of(call.shape), call.mask) && operands_fit(call);
}

void cudnn_attention(Queue queue, const AttentionCall& call) { plans().run(queue, Direction::forward, call); }
void cudnn_attention_backward(Queue queue, const AttentionCall& call) { plans().run(queue, Direction::backward, call); }

}  // namespace monomorph::cuda
