#pragma once
#include <string>

namespace monomorph::data {

/// Appends up to `n_bytes` of a source to `text`; false at its end.
/// @param source with read_some(char*, n_bytes); of what it throws the text keeps no trace
template <class Source> bool append_some(Source& source, std::string& text, std::size_t n_bytes) {
  const std::size_t old_size = text.size();
  text.resize(old_size + n_bytes);
  std::size_t n_read = 0;
  try {
    n_read = source.read_some(text.data() + old_size, n_bytes);
  } catch (...) {
    text.resize(old_size);
    throw;
  }
  text.resize(old_size + n_read);
  return n_read > 0;
}

}  // namespace monomorph::data
