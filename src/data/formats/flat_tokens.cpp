#include "data/formats/piece_reader.hpp"
#include "data/formats/token_formats.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace monomorph::data {
namespace {

constexpr LlmcHeader two_byte_header{20240520, 1, 0}, four_byte_header{20240801, 7, 0};

/// Token ids one after the other; what tells documents apart is a token, if anything.
class FlatTokenSet : public DocumentSource {
 public:
  FlatTokenSet(MappedFile file, std::size_t header_bytes, std::uint32_t bytes_per_token, DocumentMarks marks)
      : file_(std::move(file)),
        data_(file_.bytes().subspan(header_bytes)),
        bytes_per_token_(bytes_per_token),
        marks_(marks),
        scanner_(data_, [this] { file_.release(); }),
        pieces_(data_, [this] { file_.release(); }) {}

  void for_each(const Visitor& visit) override {
    std::int64_t number = 0;
    begin_ = 0;
    const auto end_document = [&](std::uint64_t end) {
      if (end == begin_) return;
      length_ = end - begin_;
      visit({number++, length_});
      begin_ = end;
    };
    if (marks_.begin || marks_.end) for_each_mark(end_document);
    end_document(data_.size());
    file_.check_unchanged();
  }

  void read(const PieceVisitor& visit) override { pieces_.read(begin_, length_, visit); }
  std::uint64_t n_bytes() const override { return data_.size(); }
  const std::string& path() const override { return file_.path(); }

 private:
  /// Calls `visit` with each place, in bytes, where a document ends.
  template <class Visit> void for_each_mark(Visit visit) {
    const std::uint32_t mark = marks_.begin ? *marks_.begin : *marks_.end;
    const std::uint64_t beyond_mark = marks_.begin ? 0 : bytes_per_token_;
    std::uint64_t offset = 0;
    scanner_.read(0, data_.size(), [&](std::span<const std::byte> piece) {
      with_id_type(bytes_per_token_, [&](auto id) {
        for (std::size_t i = 0; i < piece.size(); i += sizeof id) {
          if (number_at<decltype(id)>(piece, i) == mark) visit(offset + i + beyond_mark);
        }
      });
      offset += piece.size();
    });
  }

  MappedFile file_;
  std::span<const std::byte> data_;
  std::uint32_t bytes_per_token_;
  DocumentMarks marks_;
  PieceReader scanner_, pieces_;
  std::uint64_t begin_ = 0, length_ = 0;  ///< of the current document, in bytes
};

class FlatTokenWriter : public DocumentSink {
 public:
  FlatTokenWriter(const std::string& path, bool has_header, std::uint32_t bytes_per_token)
      : path_(path), file_(path), has_header_(has_header), bytes_per_token_(bytes_per_token) {
    if (has_header_) file_.write(std::array<std::byte, LlmcHeader::n_bytes>{});
  }

  void write(std::span<const std::byte> tokens) override {
    file_.write(tokens);
    n_bytes_ += tokens.size();
  }
  void end_document() override { ++n_documents_; }
  void finish() override {
    if (has_header_) write_header();
    has_header_ = false;
    file_.finish();
  }
  void commit() override {
    finish();
    file_.commit();
  }
  void withdraw() noexcept override { file_.withdraw(); }

  std::int64_t n_documents() const noexcept override { return n_documents_; }
  std::uint64_t n_bytes() const noexcept override { return n_bytes_; }

 private:
  void write_header() {
    constexpr std::uint64_t most_tokens = (std::uint64_t{1} << 31) - 1;
    const std::uint64_t n_tokens = n_bytes_ / bytes_per_token_;
    if (n_tokens > most_tokens) {
      throw Error("DATA-48",
                  fmt::format("{} would have {} tokens, and the header of llm.c counts {} at most; cut the set "
                              "with monomorph-data chunk first",
                              in_quotes(path_), n_tokens, most_tokens));
    }
    const LlmcHeader header = LlmcHeader::of(bytes_per_token_, static_cast<std::uint32_t>(n_tokens));
    file_.write_at(0, std::as_bytes(std::span(&header, 1)));
  }

  std::string path_;
  AtomicFile file_;
  bool has_header_;  ///< the file begins with a header that is still to be written
  std::uint32_t bytes_per_token_;
  std::int64_t n_documents_ = 0;
  std::uint64_t n_bytes_ = 0;
};

[[noreturn]] void throw_damaged_tokens(const std::string& path, const std::string& reason) {
  throw Error("DATA-49",
              fmt::format("{} {}; give the right file, or say with --from what it is", in_quotes(path), reason));
}

}  // namespace

LlmcHeader LlmcHeader::of(std::uint32_t bytes_per_token, std::uint32_t n_tokens) {
  LlmcHeader header = bytes_per_token == 2 ? two_byte_header : four_byte_header;
  header.n_tokens = n_tokens;
  return header;
}

std::optional<LlmcHeader> LlmcHeader::read(std::span<const std::byte> bytes) {
  if (bytes.size() < n_bytes) return std::nullopt;
  return number_at<LlmcHeader>(bytes, 0);
}

std::optional<std::uint32_t> LlmcHeader::bytes_per_token() const {
  if (*this == of(2, n_tokens)) return 2;
  if (*this == of(4, n_tokens)) return 4;
  return std::nullopt;
}

TokenSource open_flat_tokens(const std::string& path, TokenFormat format, DocumentMarks marks) {
  MappedFile file(path);
  const std::uint64_t file_bytes = file.bytes().size();
  const auto header = LlmcHeader::read(file.bytes());
  const auto header_width = header ? header->bytes_per_token() : std::nullopt;
  const bool has_header = format == TokenFormat::llm_c;
  if (has_header && !header_width) throw_damaged_tokens(path, "does not begin with a header of llm.c");
  const std::uint32_t width = has_header ? *header_width : 2;
  const std::size_t header_bytes = has_header ? LlmcHeader::n_bytes : 0;
  if (has_header && file_bytes != header_bytes + std::uint64_t{header->n_tokens} * width) {
    throw_damaged_tokens(path, fmt::format("promises {} tokens of {} bytes and has {} bytes behind its header",
                                           header->n_tokens, width, file_bytes - header_bytes));
  }
  if (!has_header && header_width) throw_damaged_tokens(path, "begins with a header of llm.c");
  if (file_bytes == header_bytes) throw_damaged_tokens(path, "holds no tokens");
  if (file_bytes % width != 0)
    throw_damaged_tokens(path, fmt::format("has {} bytes, no multiple of {}", file_bytes, width));
  return {std::make_unique<FlatTokenSet>(std::move(file), header_bytes, width, marks), {width, false}};
}

std::unique_ptr<DocumentSink> create_flat_tokens(const std::string& path, TokenFormat format,
                                                 std::uint32_t bytes_per_token) {
  return std::make_unique<FlatTokenWriter>(path, format == TokenFormat::llm_c, bytes_per_token);
}

}  // namespace monomorph::data
