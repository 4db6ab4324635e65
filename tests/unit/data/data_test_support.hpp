#pragma once
#include "support/bytes_of.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/text_file.hpp>

#include <unistd.h>

#include <cstddef>
#include <string>

using monomorph::testing::bytes_of;
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

inline std::string bytes_at(const std::string& path) { return monomorph::read_text_file(path); }
