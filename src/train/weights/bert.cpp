#include "train/weights/bert_rows.hpp"

namespace monomorph::train {
namespace {

constexpr std::int64_t token_types = 2;

constexpr auto bert_config =
    bert_rows::rows_and(config_rows::size<&DecoderSpec::context_length>("max_position_embeddings"),
                        bert_rows::token_types<token_types>("2"));

/// The tie is between the table and a head that recipes lack.
constexpr std::array<std::string_view, 11> bert_ignored{"classifier_dropout",
                                                        "directionality",
                                                        "gradient_checkpointing",
                                                        "language",
                                                        "name",
                                                        "pooler_fc_size",
                                                        "pooler_num_attention_heads",
                                                        "pooler_num_fc_layers",
                                                        "pooler_size_per_head",
                                                        "pooler_type",
                                                        "tie_word_embeddings"};

constexpr std::array<std::string_view, 1> bert_buffers{"bert.embeddings.position_ids"};
constexpr std::array bert_older_names{OlderName{"LayerNorm.weight", "LayerNorm.gamma"},
                                      OlderName{"LayerNorm.bias", "LayerNorm.beta"}};
constexpr std::array<std::string_view, 3> bert_other_heads{"pooler.", "cls.", "classifier."};

constexpr auto masked_config =
    bert_rows::rows_and(config_rows::size<&DecoderSpec::context_length>("max_position_embeddings"),
                        bert_rows::token_types<token_types>("2"), config_rows::tied_head("true"));
constexpr auto masked_tensors = bert_rows::tensors_with(hidden_norm_names);
constexpr std::array masked_head{TensorRow{"head.bias", "cls.predictions.bias"},
                                 TensorRow{"transform.weight", "cls.predictions.transform.dense.weight"},
                                 TensorRow{"transform.bias", "cls.predictions.transform.dense.bias"},
                                 TensorRow{"final_norm.weight", "cls.predictions.transform.LayerNorm.weight"},
                                 TensorRow{"final_norm.bias", "cls.predictions.transform.LayerNorm.bias"}};
constexpr std::array masked_copies{TensorRow{"embedding.weight", "cls.predictions.decoder.weight"},
                                   TensorRow{"head.bias", "cls.predictions.decoder.bias"}};
constexpr std::array<std::string_view, 3> heads_beside_masked{"pooler.", "cls.seq_relationship.", "classifier."};

constexpr PortableModel masked_base() {
  PortableModel base = bert_rows::base();
  base.model.tied_head = true;
  base.output = ModelOutput::logits;
  base.has_masked_head = true;
  return base;
}

}  // namespace

const Family bert{.model_type = "bert",
                  .architecture = "BertModel",
                  .base = bert_rows::base(),
                  .config = bert_config,
                  .ignored = bert_ignored,
                  .tensors = bert_rows::tensors,
                  .buffers = bert_buffers,
                  .optional_prefix = "bert.",
                  .shared_row = bert_rows::token_type(token_types),
                  .older_names = bert_older_names,
                  .other_heads = bert_other_heads,
                  .with_masked_head = &masked_bert};

const Family masked_bert{.model_type = "bert",
                         .architecture = "BertForMaskedLM",
                         .base = masked_base(),
                         .config = masked_config,
                         .ignored = bert_ignored,
                         .tensors = masked_tensors,
                         .buffers = bert_buffers,
                         .optional_prefix = "bert.",
                         .shared_row = bert_rows::token_type(token_types),
                         .older_names = bert_older_names,
                         .other_heads = heads_beside_masked,
                         .trunk = "bert.",
                         .head = masked_head,
                         .copies = masked_copies};

}  // namespace monomorph::train
