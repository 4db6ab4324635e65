#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

namespace monomorph::data {
namespace {

using nlohmann::json;
using pre_tokenizers::Behavior;
using pre_tokenizers::PrependScheme;

Behavior read_behavior(const JsonFields& fields, const json& part) {
  const std::string name = fields.text(part, "behavior");
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  fields.throw_unsupported("the behavior " + in_quotes(name));
}

PreTokenizer read_pre_tokenizer(const JsonFields& fields, const json& part) {
  const std::string type = fields.type(part, "pre_tokenizer");
  if (type == "ByteLevel") {
    return pre_tokenizers::ByteLevel{.add_prefix_space = fields.flag(part, "add_prefix_space"),
                                     .use_regex = fields.flag(part, "use_regex", true),
                                     .trim_offsets = fields.flag(part, "trim_offsets", true)};
  }
  if (type == "Split") {
    return pre_tokenizers::Split{read_pattern(fields, part), read_behavior(fields, part), fields.flag(part, "invert")};
  }
  if (type == "Digits") return pre_tokenizers::Digits{fields.flag(part, "individual_digits")};
  if (type == "Metaspace") {
    return pre_tokenizers::Metaspace{fields.character(part, "replacement"), read_prepend_scheme(fields, part),
                                     fields.flag(part, "split", true)};
  }
  if (type == "Whitespace") return pre_tokenizers::Whitespace{};
  if (type == "WhitespaceSplit") return pre_tokenizers::WhitespaceSplit{};
  if (type == "Punctuation") {
    const bool is_plain = JsonFields::lacks(part, "behavior");
    return pre_tokenizers::Punctuation{is_plain ? Behavior::isolated : read_behavior(fields, part)};
  }
  if (type == "BertPreTokenizer") return pre_tokenizers::Bert{};
  if (type == "CharDelimiterSplit") return pre_tokenizers::CharDelimiterSplit{fields.character(part, "delimiter")};
  fields.throw_unsupported("the pre_tokenizer " + in_quotes(type));
}

}  // namespace

TextPattern read_pattern(const JsonFields& fields, const json& part) {
  const json& pattern = fields.object(part, "pattern");
  const bool is_regex = pattern.contains("Regex");
  return {fields.text(pattern, is_regex ? "Regex" : "String"), is_regex};
}

/// Older files have add_prefix_space in its place.
PrependScheme read_prepend_scheme(const JsonFields& fields, const json& part) {
  const std::string name = fields.text(part, "prepend_scheme", "always");
  const bool adds_prefix = fields.flag(part, "add_prefix_space", true);
  if (!adds_prefix && name != "never") {
    fields.refuse_unless(JsonFields::lacks(part, "prepend_scheme") || name == "never",
                         "add_prefix_space: false and prepend_scheme " + in_quotes(name) + " at once");
    return PrependScheme::never;
  }
  if (name == "first") return PrependScheme::first;
  if (name == "never") return PrependScheme::never;
  fields.refuse_unless(name == "always", "the prepend_scheme " + in_quotes(name));
  return PrependScheme::always;
}

std::vector<PreTokenizer> read_pre_tokenizers(const JsonFields& fields, const json& root) {
  std::vector<PreTokenizer> pre_tokenizers;
  for_each_part(fields, root, "pre_tokenizer", "pretokenizers",
                [&](const json& part) { pre_tokenizers.push_back(read_pre_tokenizer(fields, part)); });
  return pre_tokenizers;
}

}  // namespace monomorph::data
