#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/document_source.hpp>
#include <monomorph/data/input_file.hpp>
#include <monomorph/data/inspect.hpp>
#include <monomorph/data/interruption.hpp>
#include <monomorph/data/packed_file.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace monomorph::data {
namespace {

[[noreturn]] void throw_no_document(const std::string& path, std::int64_t number, std::int64_t n_documents) {
  throw UsageError(
      fmt::format("[DATA-52] {} has no document {}; it has {}, counted from 0", in_quotes(path), number, n_documents));
}

/// Counts lengths in units of so many bytes, and looks for signals now and then.
class SpanCounter {
 public:
  SpanCounter(LengthCounter& lengths, std::uint64_t unit_bytes) : lengths_(lengths), unit_bytes_(unit_bytes) {}
  void add(std::uint64_t n_bytes) {
    constexpr std::int64_t documents_between_looks = 1 << 16;
    if (lengths_.count() % documents_between_looks == 0) throw_if_interrupted();
    lengths_.add(n_bytes / unit_bytes_);
  }

 private:
  LengthCounter& lengths_;
  std::uint64_t unit_bytes_;
};

}  // namespace

SetStatistics read_statistics(const std::string& path) {
  SetStatistics statistics;
  if (std::filesystem::path(path).extension() == ".idx") {
    const MappedFile file(path);
    statistics.file_bytes = file.bytes().size();
    SpanCounter counter(statistics.lengths, 1);
    for_each_span(file.bytes(), path, [&](DocumentSpan span) {
      constexpr std::int64_t documents_between_releases = std::int64_t{1} << 20;
      if (statistics.lengths.count() % documents_between_releases == 0) file.release();
      counter.add(span.length);
    });
  } else if (set_kind(path) == SetKind::packed) {
    const PackedFile file(path);
    statistics.file_bytes = packed_header_bytes + file.data().size() + file.index().size();
    statistics.bytes_per_token = file.bytes_per_token();
    SpanCounter counter(statistics.lengths, file.bytes_per_token());
    file.for_each_document([&](DocumentSpan span) { counter.add(span.length); });
  } else {
    const auto source = open_set(path);
    statistics.file_bytes = source->n_bytes();
    SpanCounter counter(statistics.lengths, 1);
    source->for_each([&](const Document& document) { counter.add(document.n_bytes); });
  }
  return statistics;
}

std::vector<std::int32_t> read_document(const std::string& path, std::int64_t number) {
  const PackedFile file(path);
  std::optional<DocumentSpan> found;
  std::int64_t n_documents = 0;
  file.for_each_document([&](DocumentSpan span) {
    if (n_documents++ == number) found = span;
  });
  if (!found) throw_no_document(path, number, n_documents);
  std::vector<std::int32_t> ids(found->length / file.bytes_per_token());
  file.read(static_cast<std::int64_t>(found->offset / file.bytes_per_token()), ids);
  return ids;
}

std::string read_record(const std::string& path, std::int64_t number) {
  LineReader lines(path);
  std::int64_t n_documents = 0;
  while (const auto line = lines.next()) {
    if (n_documents++ == number) return std::string(line->text);
  }
  throw_no_document(path, number, n_documents);
}

}  // namespace monomorph::data
