#pragma once
#include "tiny_documents.hpp"

namespace recipes {

/// A tiny Llama that learns which of two answers was chosen, for tests.
struct tiny_preferences : tiny_documents {
  using objective = monomorph::objective::Preferences;
};

}  // namespace recipes
