#include "data/text/base64.hpp"
#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

namespace monomorph::data {
namespace {

using nlohmann::json;

normalizers::Precompiled read_character_map(const JsonFields& fields, const json& part) {
  const auto bytes = decode_base64(fields.text(part, "precompiled_charsmap"));
  fields.expect(bytes.has_value(), "\"precompiled_charsmap\"", "base64");
  return {*bytes};
}

normalizers::Bert read_bert(const JsonFields& fields, const json& part) {
  normalizers::Bert bert;
  bert.clean_text = fields.flag(part, "clean_text");
  bert.handle_chinese_characters = fields.flag(part, "handle_chinese_chars");
  bert.lowercase = fields.flag(part, "lowercase");
  bert.strip_accents = fields.flag(part, "strip_accents", bert.lowercase);
  return bert;
}

Normalizer read_normalizer(const JsonFields& fields, const json& part) {
  using normalizers::UnicodeForm;
  const std::string type = fields.type(part, "normalizer");
  if (type == "NFC") return normalizers::Unicode{UnicodeForm::nfc};
  if (type == "NFD") return normalizers::Unicode{UnicodeForm::nfd};
  if (type == "NFKC") return normalizers::Unicode{UnicodeForm::nfkc};
  if (type == "NFKD") return normalizers::Unicode{UnicodeForm::nfkd};
  if (type == "Lowercase") return normalizers::Lowercase{};
  if (type == "StripAccents") return normalizers::StripAccents{};
  if (type == "Nmt") return normalizers::Nmt{};
  if (type == "ByteLevel") return normalizers::ByteLevel{};
  if (type == "Strip") return normalizers::Strip{fields.flag(part, "strip_left"), fields.flag(part, "strip_right")};
  if (type == "Replace") return normalizers::Replace{read_pattern(fields, part), fields.text(part, "content")};
  if (type == "Prepend") return normalizers::Prepend{fields.text(part, "prepend")};
  if (type == "BertNormalizer") return read_bert(fields, part);
  if (type == "Precompiled") return read_character_map(fields, part);
  fields.throw_unsupported("the normalizer " + in_quotes(type));
}

}  // namespace

std::vector<Normalizer> read_normalizers(const JsonFields& fields, const json& root) {
  std::vector<Normalizer> normalizers;
  for_each_part(fields, root, "normalizer", "normalizers",
                [&](const json& part) { normalizers.push_back(read_normalizer(fields, part)); });
  return normalizers;
}

}  // namespace monomorph::data
