#include "data/piece_reader.hpp"
#include "data/spill_file.hpp"
#include "data/token_formats.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

namespace monomorph::data {
namespace {

/// The codes of whole numbers; 6 and 7 are floating-point numbers, which are no tokens.
struct TypeCode {
  std::uint8_t code;
  TokenType type;
};
constexpr std::array<TypeCode, 6> type_codes{{{1, {1, false}},
                                              {2, {1, true}},
                                              {3, {2, true}},
                                              {4, {4, true}},
                                              {5, {8, true}},
                                              {8, {2, false}}}};

[[noreturn]] void throw_damaged(const std::string& path, const std::string& reason) {
  throw Error(fmt::format("[DATA-49] {} is damaged or no index of Megatron: {}; write the set again", in_quotes(path),
                          reason));
}

/// The index of a Megatron set, checked so far as its sizes go.
class MegatronIndex {
 public:
  explicit MegatronIndex(const std::string& path) : file_(path), bytes_(file_.bytes()) {
    if (bytes_.size() < megatron_header_bytes) fail(fmt::format("it has {} bytes", bytes_.size()));
    const auto* text = reinterpret_cast<const char*>(bytes_.data());
    if (std::string_view(text, megatron_magic.size()) != megatron_magic) fail("it does not begin with MMIDIDX");
    if (const auto version = number_at<std::uint64_t>(bytes_, 9); version != megatron_version) {
      fail(fmt::format("its version is {}, not {}", version, megatron_version));
    }
    read_type();
    n_sequences_ = number_at<std::uint64_t>(bytes_, 18);
    n_document_places_ = number_at<std::uint64_t>(bytes_, 26);
    check_sizes();
  }

  TokenType type() const { return type_; }
  std::uint64_t n_documents() const { return n_document_places_ - 1; }
  std::uint64_t n_sequences() const { return n_sequences_; }

  struct Sequence {
    std::uint64_t offset, n_bytes;
  };
  /// @param data_bytes the size of the .bin
  Sequence sequence(std::uint64_t number, std::uint64_t data_bytes) const {
    const auto n_tokens = number_at<std::int32_t>(bytes_, megatron_header_bytes + number * 4);
    const auto offset = number_at<std::int64_t>(bytes_, megatron_header_bytes + n_sequences_ * 4 + number * 8);
    const auto begin = static_cast<std::uint64_t>(offset);
    const std::uint64_t n_bytes = static_cast<std::uint64_t>(n_tokens) * type_.n_bytes;
    if (n_tokens < 0 || offset < 0 || begin % type_.n_bytes != 0 || begin > data_bytes || n_bytes > data_bytes - begin) {
      fail(fmt::format("sequence {} has {} tokens from byte {} on, and the .bin has {} bytes", number, n_tokens, offset,
                       data_bytes));
    }
    return {begin, n_bytes};
  }

  /// The number of a document's first sequence; for the number of documents, that of all sequences.
  std::uint64_t first_sequence(std::uint64_t document) const {
    const auto first = number_at<std::int64_t>(bytes_, megatron_header_bytes + n_sequences_ * 12 + document * 8);
    const bool is_first = document == 0, is_end = document == n_documents();
    const auto place = static_cast<std::uint64_t>(first);
    if (first < 0 || place > n_sequences_ || (is_first && first != 0) || (is_end && place != n_sequences_)) {
      fail(fmt::format("document {} begins at sequence {}, and there are {}", document, first, n_sequences_));
    }
    return place;
  }

  [[noreturn]] void fail(const std::string& reason) const { throw_damaged(file_.path(), reason); }
  void release() const noexcept { file_.release(); }

 private:
  void read_type() {
    const auto code = number_at<std::uint8_t>(bytes_, 17);
    const auto* known =
        std::find_if(type_codes.begin(), type_codes.end(), [code](const TypeCode& other) { return other.code == code; });
    if (known == type_codes.end()) fail(fmt::format("its type {} is not that of whole numbers", code));
    type_ = known->type;
  }

  void check_sizes() {
    const std::uint64_t rest = bytes_.size() - megatron_header_bytes;
    // Compared by division: products of hostile counts could be anything.
    const bool fits = n_sequences_ <= rest / 12 && n_document_places_ <= (rest - n_sequences_ * 12) / 8;
    const std::uint64_t n_left = fits ? rest - n_sequences_ * 12 - n_document_places_ * 8 : 0;
    // A byte for each sequence may follow, which says what it is beside text.
    if (!fits || (n_left != 0 && n_left != n_sequences_)) {
      fail(fmt::format("{} sequences and {} places of documents do not fill its {} bytes", n_sequences_,
                       n_document_places_, bytes_.size()));
    }
    if (n_document_places_ == 0) fail("it says nothing of documents");
  }

  MappedFile file_;
  std::span<const std::byte> bytes_;
  TokenType type_{};
  std::uint64_t n_sequences_ = 0, n_document_places_ = 0;
};

class MegatronSet : public DocumentSource {
 public:
  explicit MegatronSet(const std::string& path)
      : file_(path), index_(megatron_index_path(path)), pieces_(file_.bytes(), [this] { file_.release(); }) {}

  void for_each(const Visitor& visit) override {
    constexpr std::uint64_t documents_between_releases = std::uint64_t{1} << 20;
    std::uint64_t n_bytes_left = file_.bytes().size();
    first_ = index_.first_sequence(0);
    for (std::uint64_t document = 0; document < index_.n_documents(); ++document, first_ = end_) {
      end_ = index_.first_sequence(document + 1);
      if (end_ < first_) index_.fail(fmt::format("document {} ends before it begins", document));
      std::uint64_t n_bytes = 0;
      for (std::uint64_t number = first_; number < end_; ++number) {
        const std::uint64_t n_more = index_.sequence(number, file_.bytes().size()).n_bytes;
        if (n_more > n_bytes_left) index_.fail("its sequences have more tokens than the .bin, so that they overlap");
        n_bytes_left -= n_more;
        n_bytes += n_more;
      }
      visit({static_cast<std::int64_t>(document), n_bytes});
      if (document % documents_between_releases == 0) index_.release();
    }
    if (n_bytes_left != 0) index_.fail(fmt::format("{} bytes of the .bin are in no sequence", n_bytes_left));
  }

  void read(const PieceVisitor& visit) override {
    for (std::uint64_t number = first_; number < end_; ++number) {
      const auto [offset, n_bytes] = index_.sequence(number, file_.bytes().size());
      pieces_.read(offset, n_bytes, visit);
    }
  }

  std::uint64_t n_bytes() const override { return file_.bytes().size(); }
  const std::string& path() const override { return file_.path(); }
  TokenType type() const { return index_.type(); }

 private:
  MappedFile file_;
  MegatronIndex index_;
  PieceReader pieces_;
  std::uint64_t first_ = 0, end_ = 0;  ///< the sequences of the current document
};

/// Every document is one sequence.
class MegatronWriter : public DocumentSink {
 public:
  MegatronWriter(const std::string& path, std::uint32_t bytes_per_token)
      : path_(path),
        bytes_per_token_(bytes_per_token),
        tokens_(path),
        index_(megatron_index_path(path)),
        lengths_(path) {}

  void write(std::span<const std::byte> tokens) override {
    tokens_.write(tokens);
    n_document_bytes_ += tokens.size();
  }

  void end_document() override {
    const std::uint64_t n_tokens = n_document_bytes_ / bytes_per_token_;
    if (n_tokens > std::numeric_limits<std::int32_t>::max()) {
      throw Error(fmt::format("[DATA-48] {}: document {} has {} tokens, and Megatron's index counts 2^31 - 1 at most; "
                              "leave it out with monomorph-data filter --max-tokens",
                              in_quotes(path_), n_documents_, n_tokens));
    }
    const auto length = static_cast<std::int32_t>(n_tokens);
    lengths_.write(std::as_bytes(std::span(&length, 1)));
    n_bytes_ += n_document_bytes_;
    n_document_bytes_ = 0;
    ++n_documents_;
  }

  void finish() override {
    if (finished_) return;
    finished_ = true;
    write_index();
    tokens_.finish();
    index_.finish();
  }

  void commit() override {
    finish();
    tokens_.commit();
    try {
      index_.commit();
    } catch (...) {
      tokens_.withdraw();
      throw;
    }
  }

  void withdraw() noexcept override {
    tokens_.withdraw();
    index_.withdraw();
  }

  std::int64_t n_documents() const noexcept override { return n_documents_; }
  std::uint64_t n_bytes() const noexcept override { return n_bytes_; }

 private:
  template <class Number> void put(Number number) { index_.write(std::as_bytes(std::span(&number, 1))); }

  void write_index() {
    const auto* code = std::find_if(type_codes.begin(), type_codes.end(), [this](const TypeCode& other) {
      return other.type.n_bytes == bytes_per_token_ && (!other.type.is_signed || bytes_per_token_ == 4);
    });
    index_.write(megatron_magic);
    put(megatron_version);
    put(code->code);
    put(static_cast<std::uint64_t>(n_documents_));
    put(static_cast<std::uint64_t>(n_documents_ + 1));
    lengths_.copy_to(index_);
    write_offsets();
    for (std::int64_t document = 0; document <= n_documents_; ++document) put(document);
  }

  void write_offsets() {
    std::int64_t offset = 0;
    std::vector<std::byte> piece(std::size_t{1} << 16);
    for (std::uint64_t place = 0; const std::size_t n_read = lengths_.read(place, piece); place += n_read) {
      for (std::size_t i = 0; i < n_read; i += sizeof(std::int32_t)) {
        put(offset);
        offset += std::int64_t{number_at<std::int32_t>(piece, i)} * bytes_per_token_;
      }
    }
  }

  std::string path_;
  std::uint32_t bytes_per_token_;
  AtomicFile tokens_, index_;
  SpillFile lengths_;  ///< of the documents, in tokens of 4 bytes, until their number is known
  bool finished_ = false;
  std::int64_t n_documents_ = 0;
  std::uint64_t n_bytes_ = 0, n_document_bytes_ = 0;
};

}  // namespace

std::string megatron_index_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".idx").string();
}

TokenSource open_megatron(const std::string& path) {
  auto set = std::make_unique<MegatronSet>(path);
  const TokenType type = set->type();
  return {std::move(set), type};
}

std::unique_ptr<DocumentSink> create_megatron(const std::string& path, std::uint32_t bytes_per_token) {
  return std::make_unique<MegatronWriter>(path, bytes_per_token);
}

}  // namespace monomorph::data
