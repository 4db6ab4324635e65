#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/device/cudnn_attention.hpp>
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
                                 kernels::Routing, kernels::ScaledProducts, kernels::TextPooling, kernels::Contrast,
                                 kernels::Preference, kernels::Distillation, kernels::Nf4>;
  static constexpr bool own_memory = true;
  /// So many that products fill the GPU, and few enough that what exists of the logits stays small beside the
  /// activations of a micro-batch.
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 8192; }

  /// For four square matrices of 2,048 rows, whose products have tiles for all multiprocessors of a large GPU.
  static constexpr std::int64_t batch_scratch_elements = std::int64_t{1} << 26;

  /// CUDA's context with the code of kernels, of cuBLASLt and of cuDNN: about as much on GPUs of the Hopper kind. It
  /// depends on the driver, so the plan counts a round number.
  static constexpr std::int64_t context_bytes = std::int64_t{640} << 20;
  /// Products have a workspace of 64 MiB, for which cuBLASLt may ask, and attention's gradients one of their own.
  static constexpr std::int64_t product_workspace_bytes = std::int64_t{64} << 20;

  /// Kernels take turns with one workspace. Beside it lies a ring of parts for token ids, which the host copies there,
  /// and what a recorded step keeps.
  static constexpr std::int64_t workspace_bytes(const PassExtent& of) {
    return larger_of(product_workspace_bytes, attention_workspace_bytes(of)) +
           beside_shared_bytes(of.batch * of.tokens);
  }
  /// What kernels take turns with, of what workspace_bytes plans for so many tokens.
  static constexpr std::int64_t shared_workspace_bytes(std::int64_t planned_bytes, std::int64_t tokens) {
    return planned_bytes - beside_shared_bytes(tokens);
  }
  static constexpr int id_parts = 4;
  static constexpr std::int64_t id_bytes = 4;

  /// What a recorded step keeps (runtime/cuda/recording.hpp): what the host tells it anew before each run, and the
  /// nodes of its graph. How large those are for CUDA was not measured, so the plan counts a round number.
  static constexpr std::int64_t recording_bytes = std::int64_t{64} << 20,
                                most_recorded_input_bytes = recording_bytes / 2;
  /// Of each micro-batch ids, targets, places of documents, and two lists of rows by id and position, of up to three
  /// numbers a token each; and what its kernels share of dropout. Where a micro-batch has sequences to compare, their
  /// scores, and the targets once more, in one piece.
  static constexpr std::int64_t recorded_input_bytes(std::int64_t micro_batches, std::int64_t tokens, int layers,
                                                     std::int64_t sequences) {
    constexpr std::int64_t numbers_per_token = 9, number_bytes = 4, place_bytes = 64, places_per_layer = 16,
                           score_bytes = 8;
    const std::int64_t to_compare = sequences > 0 ? number_bytes * tokens + score_bytes * sequences : 0;
    return micro_batches * (numbers_per_token * number_bytes * tokens + to_compare +
                            place_bytes * (places_per_layer * (layers + 1) + tokens / loss_chunk_tokens(0)));
  }

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
  static constexpr std::int64_t beside_shared_bytes(std::int64_t tokens) {
    return id_parts * id_part_bytes(id_bytes * tokens) + recording_bytes;
  }
  /// What gradients need: as much as cuDNN asks for, or the number that kernels of ours keep for each query. Forward
  /// kernels of ours need nothing, and those of cuDNN less than products.
  static constexpr std::int64_t attention_workspace_bytes(const PassExtent& of) {
    if (!of.with_gradients) return 0;
    const AttentionExtent extent{of.batch, of.tokens, of.heads, of.kv_heads, of.head_dim};
    const bool by_cudnn =
        of.compute_bytes == 2 && of.tiled && !of.within_documents && !of.capped && cudnn_takes(extent, of.mask);
    return by_cudnn ? cudnn_workspace_bytes(extent) : of.batch * of.heads * of.tokens * larger_of(4, of.compute_bytes);
  }
};

}  // namespace monomorph::device
