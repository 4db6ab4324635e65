#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/runtime/cuda/queue.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cuda/attention/attention.hpp"
#include "runtime/cuda/attention/attention_band.hpp"

/// Attention of one shape as cuDNN computes it, without cuDNN's own headers, which take a minute to compile. Legend: B
/// sequences of T tokens, N query heads of H features.
namespace monomorph::cuda {

enum class Direction { forward, backward };
/// Tensors of a plan. cuDNN finds their addresses by these numbers.
enum CudnnOperand : std::int64_t { q_id = 1, k_id, v_id, out_id, lse_id, dout_id, dq_id, dk_id, dv_id, operands_end };

/// What a plan depends on: all but addresses.
struct CudnnPlanKey {
  Direction direction;
  DType dtype;
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;
  AttentionBand band;
  std::array<std::int64_t, operands_end> strides;  ///< between rows, by operand
  auto operator<=>(const CudnnPlanKey&) const = default;
};
CudnnPlanKey key_of(Direction direction, const AttentionCall& call);

/// A GPU that this machine need not have.
struct DescribedGpu {
  int sm;                  ///< 90: compute capability 9.0
  std::string properties;  ///< in JSON, as cuDNN's front end writes them
};

/// The first plan that cuDNN's heuristics name: it is not timed, so a shape has the same bits in every process.
class CudnnPlan {
 public:
  /// For this process's GPU.
  /// @throws Error [GPU-01] cuDNN refuses
  explicit CudnnPlan(const CudnnPlanKey& key);
  /// For a GPU that is described. It can not be run.
  CudnnPlan(const CudnnPlanKey& key, const DescribedGpu& gpu);
  CudnnPlan(CudnnPlan&&) noexcept;
  ~CudnnPlan();

  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// @throws Error [GPU-01] cuDNN refuses
  void run(Queue queue, const AttentionCall& call) const;

  /// 91900: 9.19.0
  static std::size_t cudnn_version();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace monomorph::cuda
