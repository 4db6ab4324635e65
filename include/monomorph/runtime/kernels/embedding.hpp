#pragma once
#include <cstdint>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cpu {

/// x = scale · table[token] (+ positions[first_position + row % tokens], if present; with document starts, less that of
/// the row). M rows. The ids are rows of the table: they were checked where they entered the step. The scale is rounded
/// to the dtype of x, in the backward pass to that of dx.
void embedding(Queue, const std::int32_t* ids_M, View table_VD, View positions_TD, std::int64_t tokens,
               std::int64_t first_position, View x_MD, const std::int32_t* document_starts_M = nullptr,
               double scale = 1);

/// dtable[id] += scale · dx of the rows of that id, in their order; set to zero before, unless `accumulate`. fp32 for
/// bf16 dx.
void embedding_backward(Queue, const std::int32_t* ids_M, View dx_MD, View dtable_VD, bool accumulate,
                        double scale = 1);

/// dpositions[t] = (or +=) sum of dx over the rows at position t, in their order.
void position_embedding_backward(Queue, View dx_MD, std::int64_t tokens, View dpositions_TD, bool accumulate,
                                 const std::int32_t* document_starts_M = nullptr);

}  // namespace monomorph::cpu
