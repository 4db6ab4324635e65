#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include "memory_file.hpp"

#include <string>

namespace monomorph::fuzz {

/// An accepted tokeniser encodes a text to ids that it has, and decodes these alike at once and as a stream.
inline void check_ids(const data::Tokenizer& tokenizer, const std::string& text) {
  const auto ids = tokenizer.encode(text);
  for (const std::int32_t id : ids) require(0 <= id && id < tokenizer.vocab_size(), "an id is in the vocabulary");
  const std::string whole = tokenizer.decode(ids);
  data::StreamDecoder stream(tokenizer);
  std::string pieces;
  for (const std::int32_t id : ids) pieces += stream.push(id);
  require(pieces + stream.finish() == whole, "a stream decodes to the same text");
}

}  // namespace monomorph::fuzz
