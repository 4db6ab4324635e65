#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace monomorph::data {
namespace {

using nlohmann::json;
using Keys = std::span<const std::string_view>;

struct KnownPart {
  std::string_view what, type;
  std::array<std::string_view, 9> keys;  ///< and empty ones behind them
};

// What only another direction, pairs of texts or offsets need is here, too: it changes nothing for us. A part that is
// not here has no keys, or is refused where it is read.
constexpr KnownPart known_parts[] = {
    {"normalizer", "BertNormalizer", {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}},
    {"normalizer", "Strip", {"strip_left", "strip_right"}},
    {"normalizer", "Replace", {"pattern", "content"}},
    {"normalizer", "Prepend", {"prepend"}},
    {"normalizer", "Precompiled", {"precompiled_charsmap"}},
    {"pre_tokenizer", "ByteLevel", {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"pre_tokenizer", "Split", {"pattern", "behavior", "invert"}},
    {"pre_tokenizer", "Digits", {"individual_digits"}},
    {"pre_tokenizer", "Metaspace", {"replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"}},
    {"pre_tokenizer", "Punctuation", {"behavior"}},
    {"pre_tokenizer", "CharDelimiterSplit", {"delimiter"}},
    {"post_processor", "ByteLevel", {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"post_processor", "TemplateProcessing", {"single", "pair", "special_tokens"}},
    {"post_processor", "BertProcessing", {"sep", "cls"}},
    {"post_processor", "RobertaProcessing", {"sep", "cls", "trim_offsets", "add_prefix_space"}},
    {"decoder", "ByteLevel", {"add_prefix_space", "trim_offsets", "use_regex"}},
    {"decoder", "Replace", {"pattern", "content"}},
    {"decoder", "Strip", {"content", "start", "stop"}},
    {"decoder", "Metaspace", {"replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"}},
    {"decoder", "WordPiece", {"prefix", "cleanup"}},
    {"decoder", "BPEDecoder", {"suffix"}},
    {"model",
     "BPE",
     {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
      "ignore_merges", "vocab", "merges"}},
    {"model", "Unigram", {"unk_id", "vocab", "byte_fallback"}},
    {"model", "WordPiece", {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}},
    {"model", "WordLevel", {"unk_token", "vocab"}},
};

constexpr std::string_view root_keys[] = {"version",       "truncation",     "padding", "added_tokens", "normalizer",
                                          "pre_tokenizer", "post_processor", "decoder", "model"};
constexpr std::string_view added_token_keys[] = {"id",     "content",    "single_word", "lstrip",
                                                 "rstrip", "normalized", "special"};

bool is_among(std::string_view key, Keys keys) { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

bool is_known_in_part(std::string_view key, std::string_view what, std::string_view type) {
  return key == "type" || std::any_of(std::begin(known_parts), std::end(known_parts), [&](const KnownPart& part) {
           return part.what == what && part.type == type && is_among(key, part.keys);
         });
}

/// A key without a value says nothing.
template <class IsKnown>
void refuse_others(const JsonFields& fields, const json& object, const std::string& where, IsKnown is_known) {
  for (const auto& [key, value] : object.items())
    fields.refuse_unless(value.is_null() || is_known(key), fmt::format("{} in {}", in_quotes(key), where));
}

void check_part(const JsonFields& fields, const json& part, const std::string& what, const std::string& type) {
  refuse_others(fields, part, fmt::format("the {} {}", what, in_quotes(type)),
                [&](const std::string& key) { return is_known_in_part(key, what, type); });
}

void check_parts(const JsonFields& fields, const json& root, const char* what, const char* members) {
  for_each_part(fields, root, what, members,
                [&](const json& part) { check_part(fields, part, what, fields.type(part, what)); });
}

}  // namespace

void refuse_unknown_keys(const JsonFields& fields, const json& root) {
  refuse_others(fields, root, "the file", [](const std::string& key) { return is_among(key, root_keys); });
  check_parts(fields, root, "normalizer", "normalizers");
  check_parts(fields, root, "pre_tokenizer", "pretokenizers");
  check_parts(fields, root, "post_processor", "processors");
  check_parts(fields, root, "decoder", "decoders");
  const json& model = root.at("model");
  check_part(fields, model, "model", JsonFields::lacks(model, "type") ? "BPE" : fields.type(model, "model"));
  if (JsonFields::lacks(root, "added_tokens")) return;
  for (const json& token : root.at("added_tokens")) {
    refuse_others(fields, token, "one of \"added_tokens\"",
                  [](const std::string& key) { return is_among(key, added_token_keys); });
  }
}

}  // namespace monomorph::data
