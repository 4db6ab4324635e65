#include <monomorph/runtime/kernels/document_starts.hpp>

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::cpu {

void check_document_starts(const std::int32_t* document_starts, std::int64_t batch, std::int64_t tokens) {
  if (document_starts == nullptr)
    throw Error("KERNEL-04",
                "attention within documents needs to be told where documents begin; fill "
                "MicroBatch::document_starts");
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int32_t* starts = document_starts + row * tokens;
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t before = t > 0 ? starts[t - 1] : 0;  // the same document, or one that begins here
      if (starts[t] != t && (t == 0 || starts[t] != before))
        throw Error("KERNEL-03",
                    fmt::format("document_starts of row {} of the batch has {} for token {}, whose document begins "
                                "at {} or at the token itself; mend what fills MicroBatch::document_starts",
                                row, starts[t], t, before));
    }
  }
}

}  // namespace monomorph::cpu
