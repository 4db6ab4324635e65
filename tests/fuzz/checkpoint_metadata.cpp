// metadata.json of a checkpoint: what is accepted is written to a text that says the same.
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness.hpp"
#include "runtime/files/checkpoint_metadata.hpp"

using namespace monomorph;
using namespace monomorph::runtime;

namespace {

/// The same document with the checksum that it should have, without which no change would get past it; the text as it
/// is if it has no such field or is deep.
std::string with_right_checksum(std::string_view text) {
  int deepest = 0;
  auto document = nlohmann::ordered_json::parse(
      text,
      [&](int depth, auto&&...) {
        deepest = std::max(deepest, depth);
        return true;
      },
      false);
  if (deepest > 64 || !document.is_object() || !document.contains("metadata_checksum")) return std::string(text);
  document.erase("metadata_checksum");
  try {
    const std::string body = document.dump();
    document["metadata_checksum"] = fmt::format("{:016x}", xxh64(fuzz::as_bytes(body)));
    return document.dump();
  } catch (const nlohmann::json::exception&) {  // not UTF-8
    return std::string(text);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::as_text(data, size);
  for (const std::string& text : {std::string(input), with_right_checksum(input)}) {
    fuzz::refusing([&] {
      const auto metadata = checkpoint_metadata::from_json(text, "metadata.json");
      const std::string written = checkpoint_metadata::to_json(metadata);
      fuzz::require(checkpoint_metadata::to_json(checkpoint_metadata::from_json(written, "metadata.json")) == written,
                    "metadata reads back as written");
    });
  }
  return 0;
}
