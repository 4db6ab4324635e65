#pragma once
#include "data/tokenizer/json_fields.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <vector>

namespace monomorph::data {

// The parts of a tokenizer.json as they are found in `root`.  @throws [TOK-01], [TOK-02], [TOK-03], [TOK-10]

std::vector<Normalizer> read_normalizers(const JsonFields& fields, const nlohmann::json& root);
std::vector<PreTokenizer> read_pre_tokenizers(const JsonFields& fields, const nlohmann::json& root);
std::vector<TokenDecoder> read_decoders(const JsonFields& fields, const nlohmann::json& root);
SpecialTokenFrame read_frame(const JsonFields& fields, const nlohmann::json& root);
std::vector<AddedToken> read_added_tokens(const JsonFields& fields, const nlohmann::json& root);
/// The model and its vocabulary.
void read_model(const JsonFields& fields, const nlohmann::json& root, TokenizerDefinition& definition);
/// For files whose parts could be read: a newer version's keys may ask for something that none of the above looks at.
void refuse_unknown_keys(const JsonFields& fields, const nlohmann::json& root);

/// {"String": "…"} or {"Regex": "…"}
TextPattern read_pattern(const JsonFields& fields, const nlohmann::json& part);
pre_tokenizers::PrependScheme read_prepend_scheme(const JsonFields& fields, const nlohmann::json& part);

/// Calls read_one(part) for a part that may be absent or a Sequence, whose parts are the array `members`.
template <class ReadOne>
void for_each_part(const JsonFields& fields, const nlohmann::json& parent, const char* name, const char* members,
                   ReadOne read_one) {
  if (JsonFields::lacks(parent, name)) return;
  constexpr int deepest_nesting = 16;
  const auto visit = [&](const auto& self, const nlohmann::json& part, int depth) -> void {
    if (fields.type(part, name) != "Sequence") return read_one(part);
    fields.refuse_unless(depth < deepest_nesting, std::string("a ") + name + " nested so deep");
    for (const nlohmann::json& one : fields.array(part, members)) self(self, one, depth + 1);
  };
  visit(visit, parent.at(name), 0);
}

}  // namespace monomorph::data
