#pragma once

namespace monomorph::data {

/// Whether the token after a sample, its last target, is also the first token of the next sample.
enum class LastTarget { reused, separate };

}  // namespace monomorph::data
