#include "data/formats/json_lines_set.hpp"
#include "data/formats/packed_file_writer.hpp"
#include "data/formats/packed_set.hpp"
#include "data/records/parquet_input.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/formats/loss_mask.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace monomorph::data {

void DocumentSource::for_each_again(const SetSize& size, const Visitor& visit) {
  std::int64_t n_documents = 0;
  for_each([&](const Document& document) {
    if (n_documents++ >= size.n_documents) throw_changed_file(path());
    visit(document);
  });
  if (n_documents != size.n_documents) throw_changed_file(path());
}

void DocumentSource::copy_to(DocumentSink& sink) {
  read([&sink](std::span<const std::byte> piece) { sink.write(piece); });
  sink.end_document();
}

bool is_json_lines_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".jsonl" || extension == ".ndjson" || extension == ".json";
}

SetKind set_kind(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".pbin") return SetKind::packed;
  if (is_json_lines_name(path)) return SetKind::json_lines;
  if (is_parquet_name(path))
    throw UsageError("DATA-40", in_quotes(path) +
                                    " is a Parquet file, and this works on packed files and JSON Lines; pack "
                                    "it, or write it as JSON Lines");
  throw UsageError("DATA-40", fmt::format("{} ends in neither .pbin (packed) nor {}; rename it after what it is, or "
                                          "convert it",
                                          in_quotes(path), json_lines_names));
}

std::unique_ptr<DocumentSource> open_set(const std::string& path) {
  if (set_kind(path) == SetKind::packed) return std::make_unique<PackedSet>(path);
  return std::make_unique<JsonLinesSet>(path);
}

std::unique_ptr<DocumentSink> create_set_like(const std::string& input, const std::string& path) {
  if (set_kind(input) == SetKind::packed) {
    refuse_loss_mask(input);
    return std::make_unique<PackedFileWriter>(path, PackedFile(input).bytes_per_token());
  }
  return std::make_unique<JsonLinesWriter>(path);
}

SetSize measure(DocumentSource& source, WorkCounter& counter) {
  SetSize size;
  source.for_each([&](const Document& document) {
    ++size.n_documents;
    size.n_bytes += document.n_bytes;
    counter.add(document.n_bytes);
  });
  return size;
}

}  // namespace monomorph::data
