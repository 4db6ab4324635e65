#pragma once
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/text_file.hpp>

#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

using monomorph::testing::contains;

inline std::string fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/data/" + name;
}

inline std::string tokenizer_fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/tokenizers/" + name;
}

/// A temporary folder in which tests of files write short.
struct TemporaryFolder : monomorph::testing::TemporaryFolder {
  std::string file(const std::string& name) const { return *this / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    monomorph::testing::write_bytes(file(name), bytes);
    return file(name);
  }
  std::size_t n_entries() const { return monomorph::testing::n_entries(path()); }
};

/// What the error that `action` throws says; "" if it throws none.
template <class Action> std::string error_of(Action action) {
  const std::string message = monomorph::testing::error_of(action);
  return message == "(no error)" ? "" : message;
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
