#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/device_policy.hpp>
#include <string_view>

namespace monomorph::cuda {
struct Queue;  // runtime/cuda/device.hpp has it, with its kernels
}

namespace monomorph::device {

/// A GPU, by CUDA: that of the rank's number on its machine. Kernels run behind the host, in the GPU's own memory.
struct Cuda {
  static constexpr std::string_view name = "Cuda";
  using Queue = cuda::Queue;
  using kernel_sets = KernelSets<kernels::Sgd, kernels::Lion, kernels::MovingAverage, kernels::Orthogonalization,
                                 kernels::Routing, kernels::TextPooling, kernels::Contrast, kernels::Preference>;
  static constexpr bool own_memory = true;
  /// So many that products fill the GPU, and few enough that what exists of the logits stays small beside the
  /// activations of a micro-batch.
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 8192; }

  /// CUDA's context with the code of kernels, of cuBLASLt and of cuDNN: about as much on GPUs of the Hopper kind. It
  /// depends on the driver, so the plan counts a round number.
  static constexpr std::int64_t context_bytes = std::int64_t{640} << 20;
  /// Products have a workspace of 64 MiB, for which cuBLASLt may ask, and attention's gradients one of their own.
  static constexpr std::int64_t product_workspace_bytes = std::int64_t{64} << 20;
  /// Attention's gradients by cuDNN are computed in parts that need no more.
  static constexpr std::int64_t most_attention_workspace_bytes = std::int64_t{5} << 28;

  /// Kernels take turns with one workspace. Beside it lies a ring of parts for token ids, which the host copies there.
  static constexpr std::int64_t workspace_bytes(const PassExtent& of) {
    return larger_of(product_workspace_bytes, attention_workspace_bytes(of)) +
           id_parts * id_part_bytes(4 * of.batch * of.tokens);
  }
  static constexpr int id_parts = 4;

  /// What collectives between GPUs keep beside the arena: memory for pieces of gradients on their way, where sums have
  /// a fixed order or gradients are rounded before they are sent; words of the host that ranks add up; and NCCL's own
  /// buffers, about as much for the four groups of a rank. The last depends on how GPUs are connected and was not
  /// measured, so the plan counts a round number.
  static constexpr std::int64_t communication_bytes(int dp) {
    return dp > 1 ? staging_bytes + word_bytes + nccl_bytes : 0;
  }
  static constexpr std::int64_t staging_bytes = std::int64_t{128} << 20, word_bytes = std::int64_t{64} << 10,
                                nccl_bytes = std::int64_t{512} << 20;
  /// @param bytes of the ids of a micro-batch, of which a part holds a few
  static constexpr std::int64_t id_part_bytes(std::int64_t bytes) {
    return larger_of(std::int64_t{4} << 20, 4 * bytes);
  }

 private:
  /// What cuDNN asks for at most. Before 9.25 deterministic gradients take 16 bits for each pair of a query and a key,
  /// and where heads are wide 32 bits for each feature of a query: 1.61 GB were measured with 64 sequences of 1,024
  /// tokens and 12 heads of 64, 4.43 GB with one of 8,192 tokens and 32 heads of 128.
  static constexpr std::int64_t attention_workspace_bytes(const PassExtent& of) {
    if (of.compute_bytes != 2) return 0;  // kernels of ours, which keep a number for each query
    const std::int64_t bytes = of.batch * of.heads * of.tokens * (2 * of.tokens + 4 * of.head_dim + 64);
    return smaller_of(bytes, most_attention_workspace_bytes);
  }
};

}  // namespace monomorph::device
