#include "core/json_text.hpp"
#include "data/tokenizer/part_readers.hpp"
#include "data/tokenizer/stages/decoder_chain.hpp"
#include "data/tokenizer/stages/pre_tokenizer_chain.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>

namespace monomorph::data {
namespace {

using nlohmann::json;

constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;

json parse(const std::string& path) {
  const std::string text = read_text_file(path, largest_file_bytes);
  json root = parsed_json(text);
  if (root.is_discarded())
    throw UsageError("TOK-01",
                     fmt::format("{} is not JSON: {}; mend or copy it again", in_quotes(path), json_mistake(text)));
  return root;
}

/// Refuses patterns that are wrong or not supported while the name of the file is still known for the message.
void check_parts(const TokenizerDefinition& definition, const std::string& path) {
  try {
    const NormalizerChain normalizers(definition.normalizers);
    const PreTokenizerChain pre_tokenizers(definition.pre_tokenizers, PreTokenizerChain::Alphabet::characters);
    const DecoderChain decoders(definition.decoders);
  } catch (const UsageError& error) {
    throw UsageError(error.id(), fmt::format("{} (in {})", error.text(), in_quotes(path)));
  }
}

}  // namespace

TokenizerDefinition read_tokenizer_definition(const std::string& path) {
  const json root = parse(path);
  const JsonFields fields(path);
  fields.expect(root.is_object(), "the file", "an object");
  fields.refuse_unless(JsonFields::lacks(root, "version") || root.at("version") == "1.0", "a version that is not 1.0");
  // Settings of a call, which transformers makes anew at each: what a file keeps of the last one changes no text.
  for (const char* name : {"truncation", "padding"})
    fields.expect(JsonFields::lacks(root, name) || root.at(name).is_object(), name, "an object");
  TokenizerDefinition definition;
  definition.normalizers = read_normalizers(fields, root);
  definition.pre_tokenizers = read_pre_tokenizers(fields, root);
  definition.frame = read_frame(fields, root);
  definition.decoders = read_decoders(fields, root);
  definition.added_tokens = read_added_tokens(fields, root);
  read_model(fields, root, definition);
  refuse_unknown_keys(fields, root);
  check_parts(definition, path);
  return definition;
}

}  // namespace monomorph::data
