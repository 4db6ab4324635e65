#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/prepare/inspect.hpp>
#include <monomorph/data/records/input_file.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace monomorph::data {
namespace {

/// Calls `visit` for each span of an index in a file of its own.
void for_each_indexed(const std::string& path, const ProgressCallback& progress,
                      const std::function<void(DocumentSpan)>& visit) {
  constexpr std::uint64_t bytes_between_releases = std::uint64_t{32} << 20;
  const MappedFile file(path);
  WorkCounter counter(progress, file.bytes().size());
  std::uint64_t n_done = 0, n_released = 0;
  for_each_span(file.bytes(), path, [&](DocumentSpan span, std::uint64_t n_read) {
    counter.add(n_read - n_done);
    n_done = n_read;
    if (n_done - n_released >= bytes_between_releases) {
      file.release();
      n_released = n_done;
    }
    visit(span);
  });
}

/// Calls `visit` for each document of a packed file.
void for_each_packed(const PackedFile& file, const ProgressCallback& progress,
                     const std::function<void(DocumentSpan)>& visit) {
  WorkCounter counter(progress, file.data().size());
  file.for_each_document([&](DocumentSpan span) {
    counter.add(span.length);
    visit(span);
  });
}

/// Picks one of the documents that are counted past it.
class DocumentPicker {
 public:
  explicit DocumentPicker(std::int64_t number) : number_(number) {}

  void count(DocumentSpan span) {
    if (n_documents_++ == number_) found_ = span;
  }
  /// @throws [DATA-52] if there was none of that number
  DocumentSpan found(const std::string& path) const {
    if (found_) return *found_;
    throw UsageError("DATA-52", fmt::format("{} has no document {}; it has {}, counted from 0", in_quotes(path),
                                            number_, n_documents_));
  }

 private:
  std::int64_t number_, n_documents_ = 0;
  std::optional<DocumentSpan> found_;
};

std::string read_span(const std::string& path, DocumentSpan span) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;  // a damaged index may promise anything
  InputFile file(path);
  file.seek(span.offset);
  std::string bytes;
  while (bytes.size() < span.length && file.read_more(bytes, std::min(span.length - bytes.size(), piece_bytes))) {
  }
  return bytes;
}

}  // namespace

SetStatistics read_statistics(const std::string& path, const ProgressCallback& progress) {
  SetStatistics statistics;
  if (std::filesystem::path(path).extension() == ".idx") {
    for_each_indexed(path, progress, [&](DocumentSpan span) { statistics.lengths.add(span.length); });
    statistics.file_bytes = std::filesystem::file_size(path);
  } else if (set_kind(path) == SetKind::packed) {
    const PackedFile file(path);
    statistics.file_bytes = packed_header_bytes + file.data().size() + file.index().size();
    statistics.bytes_per_token = file.bytes_per_token();
    for_each_packed(file, progress,
                    [&](DocumentSpan span) { statistics.lengths.add(span.length / file.bytes_per_token()); });
  } else {
    const auto source = open_set(path);
    statistics.file_bytes = source->n_bytes();
    WorkCounter counter(progress, source->n_bytes());
    source->for_each([&](const Document& document) {
      counter.add(document.n_bytes);
      statistics.lengths.add(document.n_bytes);
    });
  }
  return statistics;
}

std::vector<std::int32_t> read_document(const std::string& path, std::int64_t number,
                                        const ProgressCallback& progress) {
  const PackedFile file(path);
  DocumentPicker picker(number);
  for_each_packed(file, progress, [&](DocumentSpan span) { picker.count(span); });
  const DocumentSpan span = picker.found(path);
  std::vector<std::int32_t> ids(span.length / file.bytes_per_token());
  file.read(static_cast<std::int64_t>(span.offset / file.bytes_per_token()), ids);
  return ids;
}

std::string read_record(const std::string& path, std::int64_t number, const ProgressCallback& progress) {
  DocumentPicker picker(number);
  LineReader lines(path);
  WorkCounter counter(progress, lines.file_bytes());
  std::string record;
  while (const auto line = lines.next()) {
    if (line->number - 1 == number) record = line->text;
    picker.count({line->offset, line->text.size()});
    counter.add(line->text.size() + 1);
  }
  picker.found(path);
  return record;
}

std::string read_indexed_record(const std::string& index, const std::string& json_lines, std::int64_t number,
                                const ProgressCallback& progress) {
  DocumentPicker picker(number);
  for_each_indexed(index, progress, [&](DocumentSpan span) { picker.count(span); });
  const DocumentSpan span = picker.found(index);
  std::string record = read_span(json_lines, span);
  if (record.size() == span.length) return record;
  throw Error("DATA-05",
              fmt::format("{} has document {} in the {} bytes from {} on of {}, which ends before; index it again",
                          in_quotes(index), number, span.length, span.offset, in_quotes(json_lines)));
}

}  // namespace monomorph::data
