#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <array>
#include <cstdio>
#include <string>

#include "memory_file.hpp"

namespace monomorph::fuzz {

/// A tokeniser of single bytes, with the special tokens of a known chat template.
inline const data::Tokenizer& byte_tokenizer() {
  static const data::Tokenizer tokenizer = [] {
    std::string vocabulary;
    for (int byte = 0; byte < 256; ++byte) {
      std::array<char, 32> entry{};
      std::snprintf(entry.data(), entry.size(), "\"<0x%02X>\":%d,", byte, byte);
      vocabulary += entry.data();
    }
    std::string added;
    int id = 257;
    for (const char* const token : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
      added += (added.empty() ? R"({"id":)" : R"(,{"id":)") + std::to_string(id++) + R"(,"content":")" + token +
               R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
    const std::string definition =
        R"({"version":"1.0","truncation":null,"padding":null,"normalizer":null,"pre_tokenizer":null,)"
        R"("post_processor":null,"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"}]},)"
        R"("added_tokens":[)" +
        added + R"(],"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","merges":[],"vocab":{)" +
        vocabulary + R"("<unk>":256}}})";
    const MemoryFile file(reinterpret_cast<const std::uint8_t*>(definition.data()), definition.size());
    return data::Tokenizer(data::read_tokenizer_definition(file.path()));
  }();
  return tokenizer;
}

}  // namespace monomorph::fuzz
