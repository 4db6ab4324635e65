#pragma once
#include "control.hpp"

/// A kind of model of a user's own: a decoder in all but name, with a layer between its blocks and its head.
template <int variant> struct OwnSpec {
  monomorph::DecoderSpec decoder{};
  friend constexpr bool operator==(const OwnSpec&, const OwnSpec&) = default;
};

/// The parts of a layer of no parameters.
template <class R> struct LayerParts {
  static constexpr monomorph::UnitKind unit_kind = monomorph::UnitKind::head;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  using Saved = monomorph::Nothing;
  using Temporary = monomorph::Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void forward(const monomorph::LayerTensors<R>& t, const Saved& saved);
  static void backward(const monomorph::LayerTensors<R>& t, const Saved& saved);
};

/// And of one that may be the last.
template <class R> struct LastParts : LayerParts<R> {
  using DecodeCache = monomorph::Nothing;
  using DecodeTemporary = monomorph::Nothing;
  static void decode(const monomorph::DecodeTensorsOf<R>& t);
};

template <int variant, template <class> class Between, template <class> class Last = monomorph::VocabularyHead>
struct OwnKind {
  static constexpr monomorph::ModelOutput output = monomorph::ModelOutput::logits;
  static constexpr monomorph::DecoderSpec trunk(const OwnSpec<variant>& model) { return model.decoder; }
  template <class Blocks>
  using layers = monomorph::Joined<monomorph::Stack<monomorph::Run<monomorph::TokenEmbedding, 1>>, Blocks,
                                   monomorph::Stack<monomorph::Run<Between, 1>, monomorph::Run<Last, 1>>>;
};

/// The same with a head of its own, which is not tied to the embedding.
template <int variant, template <class> class Between, template <class> class Last>
struct OwnHeadKind : OwnKind<variant, Between, Last> {
  static constexpr monomorph::DecoderSpec trunk(const OwnSpec<variant>& model) {
    monomorph::DecoderSpec trunk = model.decoder;
    trunk.tied_head = false;
    return trunk;
  }
};

template <int variant> struct OwnRecipe : Control {
  static constexpr OwnSpec<variant> model{.decoder = Control::model};
};
