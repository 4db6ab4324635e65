#pragma once
#include <cstdint>
#include <monomorph/spec/attention_mask.hpp>
#include "runtime/kernels/host_device.hpp"

/// Which keys each query of a row sees, on every device.
namespace {

struct RowMask {
  monomorph::AttentionMask mask;
  std::int64_t tokens;
  const std::int32_t* document_starts;  ///< of the row's tokens; null: the row is one document

  MONOMORPH_HOST_DEVICE monomorph::KeyRange keys(std::int64_t query) const {
    if (document_starts == nullptr) return mask.keys(query, {0, tokens});
    return mask.keys(query, {document_starts[query], mask.looks_ahead() ? end_of_document(query) : tokens});
  }

 private:
  /// The first token behind the query whose document begins there or before it, and yet behind the query.
  MONOMORPH_HOST_DEVICE std::int64_t end_of_document(std::int64_t query) const {
    std::int64_t inside = query, outside = tokens;
    while (outside - inside > 1) {
      const std::int64_t middle = inside + (outside - inside) / 2;
      (document_starts[middle] > query ? outside : inside) = middle;
    }
    return outside;
  }
};

}  // namespace
