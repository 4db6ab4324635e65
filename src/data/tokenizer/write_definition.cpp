#include "core/overloaded.hpp"
#include "data/text/base64.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

using Json = nlohmann::ordered_json;

Json pattern_json(const TextPattern& pattern) { return {{pattern.is_regex ? "Regex" : "String", pattern.text}}; }

const char* name_of(normalizers::UnicodeForm form) {
  constexpr const char* names[] = {"NFC", "NFD", "NFKC", "NFKD"};
  return names[static_cast<int>(form)];
}

const char* name_of(pre_tokenizers::Behavior behavior) {
  constexpr const char* names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  return names[static_cast<int>(behavior)];
}

const char* name_of(pre_tokenizers::PrependScheme scheme) {
  constexpr const char* names[] = {"first", "never", "always"};
  return names[static_cast<int>(scheme)];
}

struct PartWriter {
  Json operator()(const normalizers::Unicode& unicode) const { return {{"type", name_of(unicode.form)}}; }
  Json operator()(const normalizers::Lowercase&) const { return {{"type", "Lowercase"}}; }
  Json operator()(const normalizers::StripAccents&) const { return {{"type", "StripAccents"}}; }
  Json operator()(const normalizers::Nmt&) const { return {{"type", "Nmt"}}; }
  Json operator()(const normalizers::ByteLevel&) const { return {{"type", "ByteLevel"}}; }
  Json operator()(const normalizers::Strip& strip) const {
    return {{"type", "Strip"}, {"strip_left", strip.left}, {"strip_right", strip.right}};
  }
  Json operator()(const normalizers::Replace& replace) const {
    return {{"type", "Replace"}, {"pattern", pattern_json(replace.pattern)}, {"content", replace.content}};
  }
  Json operator()(const normalizers::Prepend& prepend) const {
    return {{"type", "Prepend"}, {"prepend", prepend.text}};
  }
  Json operator()(const normalizers::Bert& bert) const {
    return {{"type", "BertNormalizer"},
            {"clean_text", bert.clean_text},
            {"handle_chinese_chars", bert.handle_chinese_characters},
            {"strip_accents", bert.strip_accents},
            {"lowercase", bert.lowercase}};
  }
  Json operator()(const normalizers::Precompiled& map) const {
    return {{"type", "Precompiled"}, {"precompiled_charsmap", encode_base64(map.character_map)}};
  }

  Json operator()(const pre_tokenizers::ByteLevel& settings) const {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", settings.add_prefix_space},
            {"trim_offsets", settings.trim_offsets},
            {"use_regex", settings.use_regex}};
  }
  Json operator()(const pre_tokenizers::Split& split) const {
    return {{"type", "Split"},
            {"pattern", pattern_json(split.pattern)},
            {"behavior", name_of(split.behavior)},
            {"invert", split.invert}};
  }
  Json operator()(const pre_tokenizers::Digits& digits) const {
    return {{"type", "Digits"}, {"individual_digits", digits.individual}};
  }
  Json operator()(const pre_tokenizers::Metaspace& settings) const {
    return {{"type", "Metaspace"},
            {"replacement", settings.replacement},
            {"prepend_scheme", name_of(settings.prepend_scheme)},
            {"split", settings.split}};
  }
  Json operator()(const pre_tokenizers::Whitespace&) const { return {{"type", "Whitespace"}}; }
  Json operator()(const pre_tokenizers::WhitespaceSplit&) const { return {{"type", "WhitespaceSplit"}}; }
  Json operator()(const pre_tokenizers::Punctuation& settings) const {
    return {{"type", "Punctuation"}, {"behavior", name_of(settings.behavior)}};
  }
  Json operator()(const pre_tokenizers::Bert&) const { return {{"type", "BertPreTokenizer"}}; }
  Json operator()(const pre_tokenizers::CharDelimiterSplit& settings) const {
    return {{"type", "CharDelimiterSplit"}, {"delimiter", settings.delimiter}};
  }

  Json operator()(const decoders::ByteLevel&) const { return (*this)(pre_tokenizers::ByteLevel{}); }
  Json operator()(const decoders::ByteFallback&) const { return {{"type", "ByteFallback"}}; }
  Json operator()(const decoders::Fuse&) const { return {{"type", "Fuse"}}; }
  Json operator()(const decoders::Replace& replace) const {
    return {{"type", "Replace"}, {"pattern", pattern_json(replace.pattern)}, {"content", replace.content}};
  }
  Json operator()(const decoders::Strip& strip) const {
    return {{"type", "Strip"}, {"content", strip.content}, {"start", strip.start}, {"stop", strip.stop}};
  }
  Json operator()(const decoders::Metaspace& settings) const {
    return (*this)(pre_tokenizers::Metaspace{settings.replacement, settings.prepend_scheme, true});
  }
  Json operator()(const decoders::WordPiece& settings) const {
    return {{"type", "WordPiece"}, {"prefix", settings.prefix}, {"cleanup", settings.cleanup}};
  }
  Json operator()(const decoders::Bpe& settings) const { return {{"type", "BPEDecoder"}, {"suffix", settings.suffix}}; }
};

/// A part, or the sequence of several; null if there is none.
template <class Part> Json parts_json(const std::vector<Part>& parts, const char* members) {
  if (parts.empty()) return nullptr;
  if (parts.size() == 1) return std::visit(PartWriter{}, parts.front());
  Json all = Json::array();
  for (const Part& part : parts) all.push_back(std::visit(PartWriter{}, part));
  return {{"type", "Sequence"}, {members, std::move(all)}};
}

/// What a post-processor needs to know of a token of its template.
class FrameWriter {
 public:
  explicit FrameWriter(const TokenizerDefinition& definition) : definition_(definition) {}

  Json write() {
    const SpecialTokenFrame& frame = definition_.frame;
    if (frame.before.empty() && frame.after.empty()) return nullptr;
    Json single = Json::array();
    for (const std::int32_t id : frame.before) single.push_back(special_token(id));
    single.push_back(sequence("A", 0));
    for (const std::int32_t id : frame.after) single.push_back(special_token(id));
    Json pair = single;
    pair.push_back(sequence("B", 1));
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special_tokens_}};
  }

 private:
  static Json sequence(const char* name, int type) { return {{"Sequence", {{"id", name}, {"type_id", type}}}}; }

  Json special_token(std::int32_t id) {
    const std::string token = token_of(id);
    special_tokens_[token] = {{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
    return {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  }

  std::string token_of(std::int32_t id) const {
    for (const AddedToken& token : definition_.added_tokens) {
      if (token.id == id) return token.content;
    }
    return definition_.vocabulary.at(static_cast<std::size_t>(id));
  }

  const TokenizerDefinition& definition_;
  Json special_tokens_ = Json::object();
};

Json added_tokens_json(const TokenizerDefinition& definition) {
  Json tokens = Json::array();
  for (const AddedToken& token : definition.added_tokens) {
    tokens.push_back({{"id", token.id},
                      {"content", token.content},
                      {"single_word", token.single_word},
                      {"lstrip", token.lstrip},
                      {"rstrip", token.rstrip},
                      {"normalized", token.normalized},
                      {"special", token.special}});
  }
  return tokens;
}

/// An array or object with one member a line.
template <class Members, class Write>
std::string lines(char opening, char closing, const Members& members, Write write) {
  std::string text(1, opening);
  const char* separator = "\n";
  std::size_t index = 0;
  for (const auto& member : members) {
    const std::string line = write(member, index++);
    if (line.empty()) continue;
    text += separator + ("      " + line);
    separator = ",\n";
  }
  return text + "\n    " + closing;
}

std::string vocabulary_text(const std::vector<std::string>& vocabulary) {
  return lines('{', '}', vocabulary, [](const std::string& token, std::size_t id) {
    return token.empty() ? "" : fmt::format("{}: {}", Json(token).dump(), id);
  });
}

struct ModelWriter {
  const TokenizerDefinition& definition;

  static std::string optional_text(const std::string& text) { return text.empty() ? "null" : Json(text).dump(); }

  std::string operator()(const tokenizer_models::Bpe& bpe) const {
    const auto token = [&](std::int32_t id) { return definition.vocabulary[static_cast<std::size_t>(id)]; };
    // The older form of merges, which every version reads, unless a token holds a space.
    const bool is_ambiguous = std::any_of(bpe.merges.begin(), bpe.merges.end(), [&](TokenPair pair) {
      return (token(pair.left) + token(pair.right)).find(' ') != std::string::npos;
    });
    const auto merge = [&](TokenPair pair, std::size_t) {
      const std::string left = token(pair.left), right = token(pair.right);
      return is_ambiguous ? Json::array({left, right}).dump() : Json(left + " " + right).dump();
    };
    return fmt::format(
        "{{\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": {},\n"
        "    \"continuing_subword_prefix\": {},\n    \"end_of_word_suffix\": {},\n    \"fuse_unk\": {},\n"
        "    \"byte_fallback\": {},\n    \"ignore_merges\": {},\n    \"vocab\": {},\n    \"merges\": {}\n  }}",
        bpe.unk_token ? Json(*bpe.unk_token).dump() : "null", optional_text(bpe.continuing_subword_prefix),
        optional_text(bpe.end_of_word_suffix), bpe.fuse_unk, bpe.byte_fallback, bpe.ignore_merges,
        vocabulary_text(definition.vocabulary), lines('[', ']', bpe.merges, merge));
  }
  std::string operator()(const tokenizer_models::Unigram& unigram) const {
    const auto piece = [&](const std::string& token, std::size_t id) {
      return Json::array({token, unigram.scores.at(id)}).dump();
    };
    return fmt::format(
        "{{\n    \"type\": \"Unigram\",\n    \"unk_id\": {},\n    \"vocab\": {},\n    \"byte_fallback\": {}\n  }}",
        unigram.unk_id ? std::to_string(*unigram.unk_id) : "null", lines('[', ']', definition.vocabulary, piece),
        unigram.byte_fallback);
  }
  std::string operator()(const tokenizer_models::WordPiece& model) const {
    return fmt::format(
        "{{\n    \"type\": \"WordPiece\",\n    \"unk_token\": {},\n    \"continuing_subword_prefix\": {},\n"
        "    \"max_input_chars_per_word\": {},\n    \"vocab\": {}\n  }}",
        Json(model.unk_token).dump(), Json(model.continuing_subword_prefix).dump(), model.max_input_chars_per_word,
        vocabulary_text(definition.vocabulary));
  }
  std::string operator()(const tokenizer_models::WordLevel& model) const {
    return fmt::format("{{\n    \"type\": \"WordLevel\",\n    \"unk_token\": {},\n    \"vocab\": {}\n  }}",
                       Json(model.unk_token).dump(), vocabulary_text(definition.vocabulary));
  }
};

}  // namespace

// The vocabulary is written by hand: one token a line, in the order of ids.
std::string to_tokenizer_json(const TokenizerDefinition& definition) {
  return fmt::format(
      "{{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": {},\n"
      "  \"normalizer\": {},\n  \"pre_tokenizer\": {},\n  \"post_processor\": {},\n  \"decoder\": {},\n"
      "  \"model\": {}\n}}\n",
      added_tokens_json(definition).dump(), parts_json(definition.normalizers, "normalizers").dump(),
      parts_json(definition.pre_tokenizers, "pretokenizers").dump(), FrameWriter(definition).write().dump(),
      parts_json(definition.decoders, "decoders").dump(), std::visit(ModelWriter{definition}, definition.model));
}

}  // namespace monomorph::data
