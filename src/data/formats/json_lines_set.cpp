#include "data/formats/json_lines_set.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace monomorph::data {
namespace {

/// The size of a file that can be read more than once, as a pipe cannot.
std::uint64_t size_of_regular_file(const std::string& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found) throw_file_error("open", path, ENOENT);
  if (failure) throw_file_error("open", path, failure.value());
  if (!std::filesystem::is_regular_file(status)) {
    throw Error("FILE-04", in_quotes(path) + " is not a regular file; give a file");
  }
  return std::filesystem::file_size(path);
}

}  // namespace

JsonLinesSet::JsonLinesSet(const std::string& path) : path_(path), n_bytes_(size_of_regular_file(path)) {
  if (n_bytes_ == 0) {
    throw UsageError("DATA-04", in_quotes(path) + " is empty; give a file with at least one document");
  }
}

void JsonLinesSet::for_each(const Visitor& visit) {
  LineReader lines(path_);
  while (const auto line = lines.next()) {
    if (line->text.find_first_not_of(" \t\r") == std::string_view::npos) {
      throw Error("DATA-02", fmt::format("{}, line {} (byte {}): the line is blank; every line must be one JSON value",
                                         in_quotes(path_), line->number, line->offset));
    }
    current_ = *line;
    visit({line->number - 1, line->text.size()});
  }
}

void JsonLinesSet::read(const PieceVisitor& visit) {
  visit(std::as_bytes(std::span(current_.text.data(), current_.text.size())));
}

void JsonLinesWriter::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  n_bytes_ += bytes.size();
}

void JsonLinesWriter::end_document() {
  file_.write("\n");
  ++n_documents_;
}

}  // namespace monomorph::data
