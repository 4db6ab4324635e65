#pragma once
#include <monomorph/block/layer.hpp>
#include <monomorph/block/model_kinds.hpp>

namespace stranger {

/// A decoder with a dense layer and a GELU between its last block and the norm of its head, as BERT's masked-language
/// head has them (Devlin et al. 2019, the published code): a kind of model with a layer, and a field, of its own.
struct TransformedDecoder {
  monomorph::DecoderSpec decoder{};
  monomorph::Defaulted<bool> transform_bias = true;

  friend constexpr bool operator==(const TransformedDecoder&, const TransformedDecoder&) = default;
};

/// y = gelu(W x + b) of each token. M tokens, B sequences that are extended, D model width.
template <class R> struct PredictionTransform {
  static constexpr monomorph::UnitKind unit_kind = monomorph::UnitKind::head;
  static constexpr std::int64_t D = monomorph::trunk_of<R>.d_model;

  struct Params : monomorph::ParameterLayout {
    monomorph::Slice weight_DxD, bias_D;
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      weight_DxD =
          take_tensor("transform.weight", {D, D}, linear, monomorph::initializers::matrix(monomorph::trunk_of<R>));
      if (R::model.transform_bias) bias_D = take_tensor("transform.bias", {1, D}, bias, monomorph::initializers::zero);
    }
  };
  struct Saved {
    monomorph::Slice h_MD;  ///< before the GELU
    constexpr Saved(monomorph::SavedPlacement activations, monomorph::SavedPlacement /*statistics*/, std::int64_t M)
        : h_MD(activations.take({M, D})) {}
  };
  struct Temporary {
    monomorph::Slice dh_MD;
    constexpr Temporary(monomorph::Layout& layout, std::int64_t M) : dh_MD(layout.take({M, D})) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * D * D; }

  using DecodeCache = monomorph::Nothing;
  struct DecodeTemporary {
    monomorph::Slice h_BD;
    constexpr DecodeTemporary(monomorph::Layout& activations, monomorph::Layout& /*statistics*/, std::int64_t B)
        : h_BD(activations.take({B, D})) {}
  };

  static void forward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  static void backward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  static void decode(const monomorph::DecodeTensorsOf<R>& t);
};

}  // namespace stranger

MONOMORPH_SPEC(stranger::TransformedDecoder, decoder, transform_bias);

template <> struct monomorph::ModelKind<stranger::TransformedDecoder> {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const stranger::TransformedDecoder& model) { return model.decoder; }
  template <class Blocks>
  using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks,
                        Stack<Run<stranger::PredictionTransform, 1>, Run<VocabularyHead, 1>>>;
};

// The bodies. Kernels are found by the type of the queue where a program is made of a recipe that has them, so no
// header of theirs is needed.
namespace stranger {

template <class R> void PredictionTransform<R>::forward(const monomorph::LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const auto h_MD = t.activations[saved.h_MD];
  linear(t.queue, t.x_MD, t.params[p.weight_DxD], t.params[p.bias_D], h_MD);
  gelu_tanh(t.queue, h_MD, t.y_MD);
}

template <class R> void PredictionTransform<R>::backward(const monomorph::LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  monomorph::Layout layout{t.temporary_offset};
  const auto dh_MD = t.activations[Temporary(layout, t.x_MD.shape.rows).dh_MD];
  gelu_tanh_backward(t.queue, t.activations[saved.h_MD], t.dx_MD, dh_MD);
  linear_backward_weight(t.queue, dh_MD, t.x_MD, t.gradients[p.weight_DxD], t.gradients[p.bias_D], t.accumulate);
  linear_backward_input(t.queue, dh_MD, t.params[p.weight_DxD], t.dx_MD);
}

template <class R> void PredictionTransform<R>::decode(const monomorph::DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  monomorph::Layout activations, statistics;
  const auto h_BD = t.activations[DecodeTemporary(activations, statistics, t.batch).h_BD];
  linear(t.queue, t.x_BD, t.params[p.weight_DxD], t.params[p.bias_D], h_BD);
  gelu_tanh(t.queue, h_BD, t.x_BD);
}

}  // namespace stranger
