// .idx: what is accepted is written again to a pickle of the same spans.
#include <monomorph/data/formats/span_index.hpp>

#include "harness.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    const auto spans = data::read_span_index(fuzz::as_bytes(data, size), "F.idx");
    std::vector<std::byte> written;
    data::SpanIndexWriter writer(
        [&](std::span<const std::byte> bytes) { written.insert(written.end(), bytes.begin(), bytes.end()); });
    for (const data::DocumentSpan span : spans) writer.add(span);
    writer.finish();
    fuzz::require(data::read_span_index(written, "F.idx") == spans, "an index reads back as written");
  });
}
