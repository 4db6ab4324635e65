#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::optim {

/// What the learning rate of a matrix of R rows and C columns is multiplied by.
enum class MuonScale {
  spectral,  ///< sqrt(max(1, R / C)): Jordan et al. 2024
  adamw,  ///< 0.2 sqrt(max(R, C)): elements move as far as AdamW's do, so that its rates can be used (Liu et al. 2025)
};

struct MuonHparams {
  Field<double> lr{0.02, 0.0, 100.0, "peak learning rate, reached at the end of the warm-up"};
  Field<double> momentum{0.95, 0.0, 0.999999, "decay of the gradients' running mean"};
  Field<bool> nesterov{true, "take the mean one step further along the gradient before it is made orthogonal"};
  Field<MuonScale> scale{MuonScale::spectral,
                         "how a matrix's shape changes the learning rate: spectral by the root of rows to columns, "
                         "where that is above 1; adamw so that elements move as far as with AdamW"};
  Field<double> weight_decay{0.1, 0.0, 10.0, "decoupled weight decay, times the learning rate"};
  Field<std::int64_t> iterations{5, 1, 100,
                                 "of Newton and Schulz; with fewer, directions of small singular values stay short"};
};

/// Muon (Jordan et al. 2024): the momentum of each matrix, made nearly orthogonal by some iterations of Newton
/// and Schulz. For matrices within blocks only; ByClass gives another optimiser to all else.
///
/// An update has three passes. `prepare` replaces the gradients of a rank's elements by what is to be transformed;
/// `transform` is then given each whole matrix, and `update` finds in the place of the gradients what became of them.
/// Kernels of transform may wait for those of other matrices (`update_together`, runtime/kernels/optimizer.hpp). Its
/// workspace holds nothing between two calls, as another matrix may have it in between.
struct Muon {
  using Hparams = MuonHparams;
  using needs = KernelSets<kernels::Orthogonalization>;
  static constexpr UpdateScope scope(ParameterClass) { return UpdateScope::matrices; }
  static constexpr StateBuffers state(ParameterClass) { return {"momentum"}; }
  /// Elements of scratch memory, fp32 at least, that `transform` needs for a matrix: it twice, and two products of it.
  static constexpr std::int64_t workspace_elements(Shape matrix) {
    const std::int64_t shorter = matrix.rows < matrix.cols ? matrix.rows : matrix.cols;
    return 2 * align_up(matrix.elements()) + 2 * align_up(shorter * shorter);
  }

  static constexpr TransformWork transform_work(Shape matrix) { return work_of_iterations(matrix, DType::fp32); }

  template <class Queue> static void prepare(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    momentum_mean(queue, run, {.momentum = hparams.momentum, .nesterov = hparams.nesterov}, terms);
  }
  template <class Queue>
  static void transform(Queue queue, const auto& matrix, const auto& workspace, const Hparams& hparams) {
    orthogonalize(queue, matrix, workspace, squared_scale(hparams.scale, matrix.shape), hparams.iterations);
  }
  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    step_along(queue, run, {.learning_rate = terms.rate(hparams.lr), .weight_decay = hparams.weight_decay}, terms);
  }

 protected:
  /// Of an iteration the product with the transpose, its square, and the product of that with the matrix.
  static constexpr TransformWork work_of_iterations(Shape matrix, DType dtype) {
    constexpr auto iterations = static_cast<double>(MuonHparams{}.iterations.value);
    const auto shorter = static_cast<double>(matrix.rows < matrix.cols ? matrix.rows : matrix.cols);
    return {iterations * 2 * shorter * (2 * static_cast<double>(matrix.elements()) + shorter * shorter), dtype};
  }

 private:
  static constexpr double squared_scale(MuonScale scale, Shape matrix) {
    const auto rows = static_cast<double>(matrix.rows), cols = static_cast<double>(matrix.cols);
    if (scale == MuonScale::adamw) return 0.04 * (rows > cols ? rows : cols);
    return rows > cols ? rows / cols : 1.0;
  }
};

/// Muon with its iteration in bf16, as its authors and PyTorch compute it: in half of the scratch memory of a matrix,
/// and on a GPU's tensor cores, which compute no products of fp32. Singular values end up about as near to 1.
struct Bf16Muon : Muon {
  static constexpr std::int64_t workspace_elements(Shape matrix) { return Muon::workspace_elements(matrix) / 2; }
  static constexpr TransformWork transform_work(Shape matrix) { return work_of_iterations(matrix, DType::bf16); }

  template <class Queue>
  static void transform(Queue queue, const auto& matrix, const auto& workspace, const Hparams& hparams) {
    auto in_bf16 = workspace;
    in_bf16.dtype = DType::bf16;
    in_bf16.shape.cols = in_bf16.stride = Muon::workspace_elements(matrix.shape);
    Muon::transform(queue, matrix, in_bf16, hparams);
  }
};

}  // namespace monomorph::optim

extern template void monomorph::append_fields(monomorph::optim::MuonHparams&, FieldList&);

template <> struct monomorph::EnumNames<monomorph::optim::MuonScale> {
  static constexpr std::string_view names[] = {"spectral", "adamw"};
};
