// SentencePiece's .model files: an accepted tokeniser encodes any text to ids that it has, and decodes these.
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include "memory_file.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  return fuzz::refusing([&] {
    const data::Tokenizer tokenizer{data::SentencePieceModel(file.path())};
    for (const std::string text : {"Hello, world!  It's 1234\n", "\xff\xe4\xb8\xad\xcc\x81 \t\t\r\n",
                                   "aaaaaaaaaaaaaaaaaaaaaaaa", "<s>\xe2\x96\x81<0x41></s>"}) {
      const auto ids = tokenizer.encode(text);
      for (const std::int32_t id : ids)
        fuzz::require(0 <= id && id < tokenizer.vocab_size(), "an id is in the vocabulary");
      const std::string whole = tokenizer.decode(ids);
      data::StreamDecoder stream(tokenizer);
      std::string pieces;
      for (const std::int32_t id : ids) pieces += stream.push(id);
      fuzz::require(pieces + stream.finish() == whole, "a stream decodes to the same text");
    }
  });
}
