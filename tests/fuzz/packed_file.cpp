// .pbin: every document of an accepted file can be read.
#include <monomorph/data/formats/packed_file.hpp>

#include "memory_file.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    const fuzz::MemoryFile file(data, size);
    const data::PackedFile packed(file.path());
    fuzz::require(packed.n_tokens() >= 0, "the number of tokens is none below zero");
    packed.largest_id();
    std::vector<std::int32_t> ids;
    for (const data::DocumentSpan span : packed.documents()) {
      ids.resize(span.length / packed.bytes_per_token());
      packed.read(static_cast<std::int64_t>(span.offset / packed.bytes_per_token()), ids);
    }
  });
}
