#pragma once

namespace monomorph {

/// How far a student's distribution over the next token is from its teacher's: by which of the two the difference of
/// log-probabilities is averaged, or by both, each against the mean of the two.
enum class Divergence { forward_kl, reverse_kl, jensen_shannon };

}  // namespace monomorph
