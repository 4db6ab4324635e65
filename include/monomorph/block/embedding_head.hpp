#pragma once
#include <monomorph/block/layer.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace monomorph {

template <class Queue> class QueuedCommunicator;  // runtime/comm/queued_communicator.hpp

/// The last layer of a model that makes embeddings, as embedding_of<R> says: final norm, pooling of the tokens of each
/// text, a projection if the pooled tokens are to have another width, length 1, and the loss of an objective over
/// embeddings.
template <class R> struct EmbeddingHead {
  using Objective = objective_of<R>;
  using needs = KernelSets<kernels::TextPooling>;
  template <class Recipe> using rules = rule::EmbeddingRules<Recipe>;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr EmbeddingSpec embedding = embedding_of<R>;
  static constexpr UnitKind unit_kind = UnitKind::head;
  static constexpr std::int64_t E = embedding.features.value_or(model.d_model);
  static constexpr bool projects = embedding.features.given;

  struct Params : ParameterLayout {
    NormParams final_norm;
    Slice projection_ExD;
    constexpr explicit Params(int = 0) : final_norm(*this, model.norm, final_norm_names, model.d_model) {
      if (projects)
        projection_ExD =
            take_tensor("projection.weight", {E, model.d_model}, ParameterClass::head, initializers::head(model));
    }
  };

  static constexpr std::int64_t samples(std::int64_t M) { return M / model.context_length; }
  static constexpr std::int64_t texts(std::int64_t M) { return samples(M) * Objective::texts_per_sample; }
  /// What a rank sends to each of the others in a micro-batch of M tokens.
  static constexpr std::int64_t gathered_elements(std::int64_t M) { return texts(M) * (E + 1); }

  /// Slices' names: R is the texts of a micro-batch, E the features of an embedding.
  struct Saved {
    Slice in_MD;  ///< the final norm's output; its gradient overwrites it
    NormStatistics norm;
    Slice pooled_RD;      ///< what is projected, if anything; its gradient overwrites it
    Slice dprojected_RE;  ///< gradient of the projection in the compute dtype, if that is narrower than the embeddings'
    Slice raw_RE;         ///< before it is brought to length 1; its gradient overwrites it
    Slice gradient_RE;
    Slice all;  ///< those of all ranks, in order; behind the features of each stands 1, or 0 if there is no such text
    Slice workspace;  ///< the objective's
    /// @param ranks data-parallel ones, whose embeddings are compared
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M, int ranks)
        : in_MD(activations.take({M, model.d_model})), norm(statistics, model.norm, {1, M}) {
      const std::int64_t n_texts = texts(M);
      if (projects) {
        pooled_RD = activations.take({n_texts, model.d_model});
        if (narrows_gradient<R>) dprojected_RE = activations.take({n_texts, E});
      }
      raw_RE = statistics.take({n_texts, E});
      gradient_RE = statistics.take({n_texts, E});
      all = statistics.take({ranks * n_texts, E + 1});
      workspace = statistics.take({1, Objective::workspace_elements(ranks * samples(M))});
    }
  };
  using Temporary = Nothing;
  static constexpr double matmul_flops_per_token() {
    return projects ? 2.0 * Objective::texts_per_sample * E * model.d_model / model.context_length : 0;
  }
  /// FLOPs of comparing embeddings, forward and backward.   @param micro_batch samples of one rank
  static constexpr double loss_flops_per_token(std::int64_t micro_batch, int ranks) {
    return Objective::flops_per_sample(micro_batch, ranks, E) / static_cast<double>(model.context_length.value);
  }

  /// Of an evaluation: compares the embeddings of this rank's micro-batch alone, so that its bits do not depend on the
  /// number of ranks.
  static void forward(const LayerTensors<R>& t, const Saved& saved);
  /// Compares the embeddings of all ranks, and makes dx_MD and the head's gradients. The gradients of other ranks'
  /// embeddings are for them to make, so nothing is reduced.
  static void backward(const LayerTensors<R>& t, const Saved& saved);
  /// Those that the last pass has made of this rank's texts.   @param all_statistics what Saved's slices are of
  template <class Queue>
  static View embeddings(const Saved& saved, const View& all_statistics, const QueuedCommunicator<Queue>& ranks);
};

}  // namespace monomorph
