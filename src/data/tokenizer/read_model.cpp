#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <unordered_map>

namespace monomorph::data {
namespace {

using nlohmann::json;
using Ids = std::unordered_map<std::string, std::int32_t>;

/// A vocabulary that is an object of tokens and ids.
Ids read_vocabulary(const JsonFields& fields, const json& model, std::vector<std::string>& vocabulary) {
  Ids ids;
  for (const auto& [token, value] : fields.object(model, "vocab").items()) {
    const std::int32_t id = fields.id(value, token);
    ids.emplace(token, id);
    if (token.empty()) continue;  // no text holds an empty token
    const auto index = static_cast<std::size_t>(id);
    if (index >= vocabulary.size()) vocabulary.resize(index + 1);
    std::string& place = vocabulary[index];
    if (!place.empty()) {
      fields.throw_contradiction(fmt::format("{} and {} have the same id {}", in_quotes(place), in_quotes(token), id));
    }
    place = token;
  }
  return ids;
}

class MergeReader {
 public:
  MergeReader(const JsonFields& fields, const Ids& ids) : fields_(fields), ids_(ids) {}

  TokenPair read(const json& merge) const {
    if (merge.is_array() && merge.size() == 2) return {part(merge[0]), part(merge[1])};
    expect(merge.is_string());
    const auto& text = merge.get_ref<const std::string&>();
    const std::size_t gap = text.find(' ');
    expect(gap != std::string::npos && text.find(' ', gap + 1) == std::string::npos);
    return {part(text.substr(0, gap)), part(text.substr(gap + 1))};
  }

 private:
  void expect(bool holds) const {
    fields_.expect(holds, "each of \"merges\"", "two tokens, \"a b\" or [\"a\", \"b\"]");
  }

  std::int32_t part(const json& token) const {
    expect(token.is_string());
    const auto found = ids_.find(token.get_ref<const std::string&>());
    if (found == ids_.end()) {
      fields_.throw_contradiction(
          fmt::format("a merge names {}, which is not in the vocabulary", in_quotes(token.get<std::string>())));
    }
    return found->second;
  }

  const JsonFields& fields_;
  const Ids& ids_;
};

tokenizer_models::Bpe read_bpe(const JsonFields& fields, const json& model, std::vector<std::string>& vocabulary) {
  fields.refuse_unless(JsonFields::lacks(model, "dropout") || model.at("dropout") == 0, "model dropout");
  tokenizer_models::Bpe bpe;
  bpe.continuing_subword_prefix = fields.text(model, "continuing_subword_prefix", "");
  bpe.end_of_word_suffix = fields.text(model, "end_of_word_suffix", "");
  bpe.fuse_unk = fields.flag(model, "fuse_unk", false);
  bpe.byte_fallback = fields.flag(model, "byte_fallback", false);
  bpe.ignore_merges = fields.flag(model, "ignore_merges", false);
  if (!JsonFields::lacks(model, "unk_token")) bpe.unk_token = fields.text(model, "unk_token");
  const Ids ids = read_vocabulary(fields, model, vocabulary);
  const MergeReader reader(fields, ids);
  for (const json& merge : fields.array(model, "merges")) {
    // The first line of the older merges.txt, kept by some converters.
    if (merge.is_string() && merge.get_ref<const std::string&>().starts_with("#version")) continue;
    bpe.merges.push_back(reader.read(merge));
  }
  return bpe;
}

tokenizer_models::Unigram read_unigram(const JsonFields& fields, const json& model,
                                       std::vector<std::string>& vocabulary) {
  tokenizer_models::Unigram unigram;
  unigram.byte_fallback = fields.flag(model, "byte_fallback", false);
  for (const json& piece : fields.array(model, "vocab")) {
    const bool is_piece = piece.is_array() && piece.size() == 2 && piece[0].is_string() && piece[1].is_number();
    fields.expect(is_piece, "each of \"vocab\"", "a piece and its score");
    vocabulary.push_back(piece[0].get<std::string>());
    unigram.scores.push_back(piece[1].get<double>());
  }
  fields.expect(std::ssize(vocabulary) < most_ids, "\"vocab\"", fmt::format("of less than {} pieces", most_ids));
  if (JsonFields::lacks(model, "unk_id")) return unigram;
  unigram.unk_id = fields.id(model.at("unk_id"), "unk_id");
  if (*unigram.unk_id >= std::ssize(vocabulary)) {
    fields.throw_contradiction(fmt::format("the unk_id {} is beyond the vocabulary", *unigram.unk_id));
  }
  return unigram;
}

}  // namespace

void read_model(const JsonFields& fields, const json& root, TokenizerDefinition& definition) {
  const json& model = fields.object(root, "model");
  const std::string type = JsonFields::lacks(model, "type") ? "BPE" : fields.type(model, "model");
  std::vector<std::string>& vocabulary = definition.vocabulary;
  if (type == "BPE") {
    definition.model = read_bpe(fields, model, vocabulary);
  } else if (type == "Unigram") {
    definition.model = read_unigram(fields, model, vocabulary);
  } else if (type == "WordPiece") {
    definition.model =
        tokenizer_models::WordPiece{fields.text(model, "unk_token"), fields.text(model, "continuing_subword_prefix"),
                                    fields.count(model, "max_input_chars_per_word")};
    read_vocabulary(fields, model, vocabulary);
  } else if (type == "WordLevel") {
    definition.model = tokenizer_models::WordLevel{fields.text(model, "unk_token")};
    read_vocabulary(fields, model, vocabulary);
  } else {
    fields.throw_unsupported("the model " + in_quotes(type));
  }
}

}  // namespace monomorph::data
