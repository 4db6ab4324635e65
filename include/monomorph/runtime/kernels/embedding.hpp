#pragma once
#include <cstdint>
#include <monomorph/runtime/view.hpp>

namespace monomorph::kernels {

/// x = table[token] (+ positions[first_position + row % tokens], if present). M = ids.size() rows.
void embedding(const std::int32_t* ids_M, View table_VD, View positions_TD, std::int64_t tokens,
               std::int64_t first_position, View x_MD);

/// dtable[id] += dx rows of that id, in the order of the rows; set to zero before, unless `accumulate`. fp32 for bf16
/// dx.
void embedding_backward(const std::int32_t* ids_M, View dx_MD, View dtable_VD, bool accumulate);

/// dpositions[t] = (or +=) sum of dx over the sequences at position t.
void position_embedding_backward(View dx_MD, std::int64_t tokens, View dpositions_TD, bool accumulate);

}  // namespace monomorph::kernels
