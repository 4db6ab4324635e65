#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/data/tokenizer/tokenizer_file.hpp>

#include "data/tokenizer/definition/inconsistency.hpp"
#include "data/tokenizer/parts.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_stream.hpp"

#include <fstream>

namespace monomorph::data {

bool is_sentence_piece_file(const std::string& path) {
  if (path.ends_with(".model")) return true;
  std::ifstream file(path, std::ios::binary);
  const char first_field = '\x0A';
  if (file.get() != first_field) return false;
  return (file >> std::ws).peek() != '{';
}

Tokenizer::Tokenizer(TokenizerDefinition definition)
    : definition_(std::move(definition)), parts_(std::make_unique<const TokenizerParts>(definition_)) {
  tokens_ = definition_.vocabulary;
  special_.resize(tokens_.size());
  for (const AddedToken& token : definition_.added_tokens) add(token);
  for (const auto* ids : {&definition_.frame.before, &definition_.frame.after}) {
    for (const std::int32_t id : *ids) {
      if (!has_token(id)) throw_inconsistent("the post_processor adds the id {}, which has no token", id);
    }
  }
}

Tokenizer::Tokenizer(SentencePieceModel model)
    : sentence_piece_(std::make_unique<const SentencePieceModel>(std::move(model))) {
  for (std::int32_t id = 0; id < sentence_piece_->vocab_size(); ++id) {
    const bool is_control = sentence_piece_->kind(id) == SentencePieceModel::Kind::control;
    tokens_.push_back(sentence_piece_->piece(id));
    special_.push_back(is_control);
    if (is_control) definition_.added_tokens.push_back({tokens_.back(), id, /*special=*/true, /*normalized=*/false});
  }
  definition_.vocabulary = tokens_;
}

Tokenizer::~Tokenizer() = default;

void Tokenizer::add(const AddedToken& token) {
  const auto known = find(token.content);
  const auto id = static_cast<std::size_t>(token.id);
  const bool is_free = id >= tokens_.size() || tokens_[id].empty();
  if (known ? *known != token.id : !is_free) {
    throw_inconsistent("the added token {} has the id {}, which the vocabulary gives to another",
                       in_quotes(token.content), token.id);
  }
  if (id >= tokens_.size()) {
    tokens_.resize(id + 1);
    special_.resize(id + 1);
  }
  tokens_[id] = parts_->content_to_decode(token);
  special_[id] = special_[id] || token.special;
  added_ids_.emplace(token.content, token.id);
  if (token.special) special_names_.insert(token.content);
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  std::vector<std::int32_t> ids;
  Encoder(*this).encode(text, ids, special);
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  if (sentence_piece_) return sentence_piece_->decode(ids);  // control tokens show nothing
  StreamDecoder stream(*this, skip_special);
  std::string text;
  for (const std::int32_t id : ids) text += stream.push(id);
  return text + stream.finish();
}

std::optional<std::int32_t> Tokenizer::find(std::string_view token) const {
  if (sentence_piece_) return sentence_piece_->find(token);
  const auto added = added_ids_.find(std::string(token));
  return added == added_ids_.end() ? parts_->vocabulary.find(token) : added->second;
}

bool Tokenizer::has_token(std::int32_t id) const {
  return id >= 0 && id < vocab_size() && !tokens_[static_cast<std::size_t>(id)].empty();
}

const std::string& Tokenizer::token_of(std::int32_t id) const {
  if (!has_token(id)) {
    throw Error("TOK-04",
                fmt::format("the id {} has no token in this vocabulary of {}; is it the tokenizer that the ids "
                            "were made with?",
                            id, vocab_size()));
  }
  return tokens_[static_cast<std::size_t>(id)];
}

std::string Tokenizer::bytes_of(std::int32_t id) const {
  const std::string& token = token_of(id);
  return sentence_piece_ ? bytes_of_piece(*sentence_piece_, id) : parts_->decoders.bytes_within_text(token);
}

bool Tokenizer::is_special(std::int32_t id) const {
  return id >= 0 && id < vocab_size() && special_[static_cast<std::size_t>(id)];
}

bool Tokenizer::is_skipped(std::int32_t id) const {
  return is_special(id) && (sentence_piece_ || special_names_.contains(tokens_[static_cast<std::size_t>(id)]));
}

std::unique_ptr<const Tokenizer> read_tokenizer(const std::string& path) {
  if (is_sentence_piece_file(path)) return std::make_unique<const Tokenizer>(SentencePieceModel(path));
  TokenizerDefinition definition = read_tokenizer_definition(path);
  try {
    return std::make_unique<const Tokenizer>(std::move(definition));
  } catch (const UsageError& error) {
    throw UsageError(error.id(), fmt::format("{} (in {})", error.text(), in_quotes(path)));
  }
}

std::vector<std::int32_t> token_byte_lengths(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool has_text = tokenizer.has_token(id) && !tokenizer.is_special(id);
    if (has_text) lengths[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(tokenizer.bytes_of(id).size());
  }
  return lengths;
}

}  // namespace monomorph::data
