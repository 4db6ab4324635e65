#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// A token attends to its own document up to itself, and positions count from the document's begin: several documents
/// in a row train as each would in a row of its own.
struct WithinDocuments {
  static constexpr std::string_view name = "WithinDocuments";
  static constexpr bool within_documents = true;
};
static_assert(AttentionPolicy<WithinDocuments>);

}  // namespace monomorph::attention
