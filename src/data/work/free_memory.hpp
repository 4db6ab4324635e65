#pragma once

namespace monomorph::data {

/// Empties a vector or a string and frees its memory, which assigning `{}` would keep.
template <class Container> void free_memory(Container& container) { Container().swap(container); }

}  // namespace monomorph::data
