#include "data/tokenizer/part_readers.hpp"

#include <monomorph/core/file_error.hpp>

namespace monomorph::data {
namespace {

using nlohmann::json;

TokenDecoder read_decoder(const JsonFields& fields, const json& part) {
  const std::string type = fields.type(part, "decoder");
  if (type == "ByteLevel") return decoders::ByteLevel{};
  if (type == "ByteFallback") return decoders::ByteFallback{};
  if (type == "Fuse") return decoders::Fuse{};
  if (type == "Replace") return decoders::Replace{read_pattern(fields, part), fields.text(part, "content")};
  if (type == "Strip") {
    return decoders::Strip{fields.character(part, "content"), fields.count(part, "start"), fields.count(part, "stop")};
  }
  if (type == "Metaspace") {
    return decoders::Metaspace{fields.character(part, "replacement"), read_prepend_scheme(fields, part)};
  }
  if (type == "WordPiece") return decoders::WordPiece{fields.text(part, "prefix"), fields.flag(part, "cleanup")};
  if (type == "BPEDecoder") return decoders::Bpe{fields.text(part, "suffix")};
  fields.throw_unsupported("the decoder " + in_quotes(type));
}

}  // namespace

std::vector<TokenDecoder> read_decoders(const JsonFields& fields, const json& root) {
  std::vector<TokenDecoder> decoders;
  for_each_part(fields, root, "decoder", "decoders",
                [&](const json& part) { decoders.push_back(read_decoder(fields, part)); });
  if (decoders.empty() && !JsonFields::lacks(root, "decoder")) return {decoders::Fuse{}};  // a Sequence of none
  return decoders;
}

}  // namespace monomorph::data
