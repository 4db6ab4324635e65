#pragma once
#include <cstdint>

/// Rows that hold several documents: for each token the place in its row, counted from 0, of the first token of its
/// document. A token's position is its own place less that one. Kernels that take document starts (B, T) treat a row as
/// one document if they get none.
namespace monomorph::cpu {

/// @throws [KERNEL-04] there are none; [KERNEL-03] in some row they are not those of documents one after the other
void check_document_starts(const std::int32_t* document_starts_BT, std::int64_t batch, std::int64_t tokens);

}  // namespace monomorph::cpu
