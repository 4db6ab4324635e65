#pragma once
#include <boost/hana/define_struct.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/optim/muon.hpp>

namespace monomorph::optim {

/// One optimiser for the matrices of the blocks, another for all else: embeddings, head, norms and biases.
template <OptimizerPolicy Matrices, OptimizerPolicy Others> struct ByClass {
  static constexpr std::string_view name = "ByClass";
  struct Hparams {
    BOOST_HANA_DEFINE_STRUCT(Hparams, (typename Matrices::Hparams, matrices), (typename Others::Hparams, others));
  };
  static constexpr UpdateScope scope(ParameterClass parameter_class) {
    return of_blocks(parameter_class) ? Matrices::scope(parameter_class) : Others::scope(parameter_class);
  }
  static constexpr StateBuffers state(ParameterClass parameter_class) {
    return of_blocks(parameter_class) ? Matrices::state(parameter_class) : Others::state(parameter_class);
  }
  static constexpr std::int64_t workspace_elements(Shape matrix) requires updates_matrices<Matrices> {
    return Matrices::workspace_elements(matrix);
  }
  /// What the log shows as `lr`.
  static double shown_rate(const Hparams& hparams) { return hparams.matrices.lr; }

  template <class Queue>
  static void prepare(Queue queue, const auto& run, const Hparams& hparams, const auto& scalars) {
    Matrices::prepare(queue, run, hparams.matrices, scalars);
  }
  template <class Queue>
  static void transform(Queue queue, const auto& matrix, const auto& workspace, const Hparams& hparams) {
    Matrices::transform(queue, matrix, workspace, hparams.matrices);
  }
  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& scalars) {
    if (of_blocks(run.parameter_class))
      Matrices::update(queue, run, hparams.matrices, scalars);
    else
      Others::update(queue, run, hparams.others, scalars);
  }

 private:
  static constexpr bool of_blocks(ParameterClass parameter_class) { return parameter_class == ParameterClass::linear; }
};
static_assert(OptimizerPolicy<ByClass<Muon, AdamW>>);

}  // namespace monomorph::optim
