// tokenizer.json: an accepted tokeniser encodes any text to ids that it has, and decodes these.
#include "check_ids.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    const fuzz::MemoryFile file(data, size);
    const data::Tokenizer tokenizer(data::read_tokenizer_definition(file.path()));
    for (const std::string text :
         {"Hello, world!  It's 1234\n", "\xff\xe4\xb8\xad\xcc\x81 \t\t\r\n", "aaaaaaaaaaaaaaaaaaaaaaaa"})
      fuzz::check_ids(tokenizer, text);
  });
}
