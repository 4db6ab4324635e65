#pragma once
#include <monomorph/train/step/host_pieces.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What this rank holds of a tensor, to be read: a run of the elements of a region of it, in the order of its rows. Of
/// a tensor in a device's own memory the host has a piece at a time, so that elements are best read in their order.
class ObservedTensor {
 public:
  /// @param pieces of the step that the tensor belongs to
  ObservedTensor(StateTensor tensor, HostPieces& pieces) : tensor_(std::move(tensor)), pieces_(&pieces) {}

  std::string_view name() const { return tensor_.name; }         ///< as in checkpoints: "layers.3.mlp.up.weight"
  Shape shape() const { return tensor_.shape; }                  ///< of the whole tensor
  const Region& region() const { return tensor_.region; }        ///< of a tensor of dims_of(shape())
  std::int64_t first() const { return tensor_.first; }           ///< element of the region with which this rank's begin
  std::int64_t size() const { return tensor_.view.elements(); }  ///< elements that this rank holds
  DType dtype() const { return tensor_.view.dtype; }
  double operator[](std::int64_t i) const;  ///< of those that this rank holds
  double norm() const;                      ///< the 2-norm of those
  /// The elements themselves, all at a time: of a tensor in a device's own memory a copy, which lives as long as this
  /// object. The caller must know the dtype.
  template <class T> std::span<const T> as() const {
    return {whole().template as<const T>(), static_cast<std::size_t>(size())};
  }

 private:
  View whole() const;

  StateTensor tensor_;
  HostPieces* pieces_;
  mutable HostBuffer copy_;  ///< of all elements, if all are asked for
  mutable View whole_;
};

/// A step of a run as an observer is shown it: when its gradients are complete, and before the optimiser uses them.
/// Loss, gradients and parameters belong together, therefore; the parameters that the step makes are those of the next
/// one, and what a checkpoint of `step` holds.
struct ObservedStep {
  std::int64_t step;     ///< counted from 1, as in metrics.jsonl
  std::int64_t tokens;   ///< of its global batch those that count
  double loss;           ///< their mean
  double learning_rate;  ///< the peak by the schedule, as in metrics.jsonl
  /// Of the mean loss, before clipping: the norm that optimizer.clip.mode names, or the 2-norm. If it is not finite,
  /// the step is going to be skipped.
  double gradient_norm;
  double gradient_scale;  ///< `gradients` times this are those of the mean loss
  std::vector<ObservedTensor> parameters, gradients;
  int rank, ranks;
  int replica;  ///< the ranks of one replica hold each element once among them
};

}  // namespace monomorph::train
