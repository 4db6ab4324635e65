// SentencePiece's .model files: an accepted tokeniser encodes any text to ids that it has, and decodes these.
#include "check_ids.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  return fuzz::refusing([&] {
    const data::Tokenizer tokenizer{data::SentencePieceModel(file.path())};
    for (const std::string text : {"Hello, world!  It's 1234\n", "\xff\xe4\xb8\xad\xcc\x81 \t\t\r\n",
                                   "aaaaaaaaaaaaaaaaaaaaaaaa", "<s>\xe2\x96\x81<0x41></s>"})
      fuzz::check_ids(tokenizer, text);
  });
}
