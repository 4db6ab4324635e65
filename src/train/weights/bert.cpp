#include "train/weights/bert_rows.hpp"

namespace monomorph::train {
namespace {

constexpr std::int64_t token_types = 2;

constexpr auto bert_config =
    bert_rows::rows_and(config_rows::size<&DecoderSpec::context_length>("max_position_embeddings"),
                        bert_rows::token_types<token_types>("2"));

/// The tie is between the table and a head that recipes lack.
constexpr std::array<std::string_view, 8> bert_ignored{"classifier_dropout",         "directionality",
                                                       "gradient_checkpointing",     "pooler_fc_size",
                                                       "pooler_num_attention_heads", "pooler_num_fc_layers",
                                                       "pooler_size_per_head",       "tie_word_embeddings"};

constexpr std::array<std::string_view, 1> bert_buffers{"bert.embeddings.position_ids"};
constexpr std::array bert_older_names{OlderName{"LayerNorm.weight", "LayerNorm.gamma"},
                                      OlderName{"LayerNorm.bias", "LayerNorm.beta"}};
constexpr std::array<std::string_view, 3> bert_other_heads{"pooler.", "cls.", "classifier."};

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
                  .other_heads = bert_other_heads};

}  // namespace monomorph::train
