#pragma once
#include <monomorph/block/initializers.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

namespace monomorph {

/// A unit that may hold the final norm.
struct FinalNormLayout : ParameterLayout {
  Slice norm_D, norm_bias_D;
  constexpr void take_final_norm(const auto& model) {
    norm_D = take_tensor("final_norm.weight", {1, model.d_model}, ParameterClass::norm, initializers::one);
    if (model.norm.bias)
      norm_bias_D = take_tensor("final_norm.bias", {1, model.d_model}, ParameterClass::bias, initializers::zero);
  }
};

/// The first unit: token table and learned positions. With a tied head it holds the final norm as well, as the table is
/// resident from embedding forward to embedding backward.
template <class R> struct EmbeddingUnit {
  static constexpr const auto& model = R::model;
  struct Params : FinalNormLayout {
    Slice table_VD, positions_TD;
    constexpr explicit Params(int = 0) {
      table_VD = take({model.padded_vocab(), model.d_model});  // rows beyond the vocabulary stay zero
      add_part("embedding.weight", table_VD, 0, model.vocab_size, ParameterClass::embedding,
               initializers::embedding(model));
      if (model.position == Position::learned)
        positions_TD = take_tensor("position_embedding.weight", {model.context_length, model.d_model},
                                   ParameterClass::embedding, initializers::embedding(model));
      if (model.tied_head) take_final_norm(model);
    }
  };
};

/// The last unit of a model whose head is not the embedding table: final norm and head.
template <class R> struct VocabularyHeadUnit {
  static constexpr const auto& model = R::model;
  struct Params : FinalNormLayout {
    Slice head_VD;
    constexpr explicit Params(int = 0) {
      take_final_norm(model);
      head_VD = take({model.padded_vocab(), model.d_model});
      add_part("head.weight", head_VD, 0, model.vocab_size, ParameterClass::head, initializers::head(model));
    }
  };
};

/// The last unit of an encoder: final norm, and what projects the pooled tokens if they are to have another width.
template <class R> struct EmbeddingHeadUnit {
  static constexpr const auto& model = R::model;
  struct Params : FinalNormLayout {
    Slice projection_ExD;
    constexpr explicit Params(int = 0) {
      take_final_norm(model);
      if (model.d_embedding.given)
        projection_ExD = take_tensor("projection.weight", {model.embedding_width(), model.d_model},
                                     ParameterClass::head, initializers::head(model));
    }
  };
};

template <class R> using HeadUnit = std::conditional_t<is_encoder<R>, EmbeddingHeadUnit<R>, VocabularyHeadUnit<R>>;

}  // namespace monomorph
