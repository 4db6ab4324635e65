#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// A tiny Llama that attends within documents, for tests.
struct tiny_documents : tiny_llama {
  using attention = monomorph::attention::WithinDocuments;
};

}  // namespace recipes
