#pragma once
#include <cstdint>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/rotary_spec.hpp>

/// Rotary position embedding (Su et al. 2021), halves convention: feature i is paired with feature i + H/2.
namespace monomorph::cpu {

/// Fills cos and sin of position · frequency for T positions and H/2 frequencies, base^(-2i/H), scaled as `rotary`
/// says, which with dynamic scaling depends on T; both are multiplied by the attention factor of YaRN. fp32 (or fp64)
/// tables, computed in fp64.
void rotary_table(Queue, const RotarySpec& rotary, View cos_TH, View sin_TH);

/// Rotates every head in place: x has M = B·T rows, each of whole heads of H = 2·cos.cols features; row r is at
/// position first_position + r % tokens, less its document's start if there are any, which may lie before the first row
/// (PagedTokens). With `inverse` it turns the other way, which is the backward pass.
void rotary(Queue, View x_MD, View cos_TH, View sin_TH, std::int64_t tokens, std::int64_t first_position, bool inverse,
            const std::int32_t* document_starts_M = nullptr);

}  // namespace monomorph::cpu
