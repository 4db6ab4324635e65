#pragma once
#include <monomorph/attention/causal.hpp>
#include <monomorph/attention/per_document.hpp>

namespace monomorph::attention {

/// A token attends to its own document up to itself, and positions count from the document's begin: several documents
/// in a row train as each would in a row of its own.
struct WithinDocuments : PerDocument<Causal> {};

}  // namespace monomorph::attention
