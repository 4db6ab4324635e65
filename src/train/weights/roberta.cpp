#include "train/weights/bert_rows.hpp"

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::int64_t usual_padding = 1, one_token_type = 1;

/// The first token has the position behind that of padding, and positions before it are no token's.
constexpr ConfigRow padding{"pad_token_id", "1",
                            [](const PortableModel& portable) -> json { return portable.unused_positions - 1; },
                            [](PortableModel& portable, const json& value) {
                              if (!value.is_number_integer()) throw WrongType{};
                              if (value < 0) throw NotExpressible{"positions begin behind it"};
                              portable.unused_positions = value == 0 ? 1 : config_rows::size_from(value) + 1;
                            }};

/// Reads what the row of padding has read.
constexpr ConfigRow positions{"max_position_embeddings", nullptr,
                              [](const PortableModel& portable) -> json {
                                return portable.model.context_length + portable.unused_positions;
                              },
                              [](PortableModel& portable, const json& value) {
                                const std::int64_t context = config_rows::size_from(value) - portable.unused_positions;
                                if (context < 1)
                                  throw NotExpressible{"the first token has the position pad_token_id + 1"};
                                portable.model.context_length = context;
                              }};

constexpr auto roberta_config = bert_rows::rows_and(padding, positions, bert_rows::token_types<one_token_type>("2"));

/// The tie is between the table and a head that recipes lack.
constexpr std::array<std::string_view, 5> roberta_ignored{"classifier_dropout", "gradient_checkpointing", "language",
                                                          "name", "tie_word_embeddings"};
constexpr std::array<std::string_view, 2> roberta_buffers{"roberta.embeddings.position_ids",
                                                          "roberta.embeddings.token_type_ids"};
constexpr std::array<std::string_view, 4> roberta_other_heads{"pooler.", "lm_head.", "classifier.", "qa_outputs."};

constexpr Family family_of(std::string_view model_type, std::string_view architecture) {
  return {.model_type = model_type,
          .architecture = architecture,
          .base = bert_rows::base(usual_padding + 1),
          .config = roberta_config,
          .ignored = roberta_ignored,
          .tensors = bert_rows::tensors,
          .buffers = roberta_buffers,
          .optional_prefix = "roberta.",
          .shared_row = bert_rows::token_type(one_token_type),
          .other_heads = roberta_other_heads};
}

}  // namespace

// They differ in their tokenisers alone.
const Family roberta = family_of("roberta", "RobertaModel");
const Family xlm_roberta = family_of("xlm-roberta", "XLMRobertaModel");
const Family camembert = family_of("camembert", "CamembertModel");

}  // namespace monomorph::train
