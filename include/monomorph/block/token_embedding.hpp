#pragma once
#include <monomorph/block/layer.hpp>

namespace monomorph {

/// The first layer: token table and learned positions. With a tied head it holds the final norm as well, as the table
/// is resident from embedding forward to embedding backward.
template <class R> struct TokenEmbedding {
  static constexpr const auto& model = trunk_of<R>;
  static constexpr UnitKind unit_kind = UnitKind::embedding;
  struct Params : ParameterLayout {
    Slice table_VD, positions_TD;
    NormParams final_norm;
    constexpr explicit Params(int = 0) {
      table_VD = take({model.padded_vocab(), model.d_model});  // rows beyond the vocabulary stay zero
      add_part("embedding.weight", table_VD, 0, model.vocab_size, ParameterClass::embedding,
               initializers::embedding(model));
      if (model.position == Position::learned)
        positions_TD = take_tensor("position_embedding.weight", {model.context_length, model.d_model},
                                   ParameterClass::embedding, initializers::embedding(model));
      if (model.tied_head) final_norm = {*this, model.norm, final_norm_names, model.d_model};
    }
  };
  using Saved = Nothing;
  using Temporary = Nothing;
  using DecodeCache = Nothing;
  using DecodeTemporary = Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }  // a look-up
  static constexpr bool backward_reads_params = false;

  static void forward(const LayerTensors<R>& t, const Saved&);
  /// A tied table already has the head's gradient, to which this adds.
  static void backward(const LayerTensors<R>& t, const Saved&);
  static void decode(const DecodeTensorsOf<R>& t);
};

}  // namespace monomorph
