#include "data/formats/megatron_types.hpp"
#include "data/formats/piece_reader.hpp"
#include "data/formats/token_formats.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace monomorph::data {
namespace {

[[noreturn]] void throw_damaged_megatron_set(const std::string& path, const std::string& reason) {
  throw Error("DATA-49",
              fmt::format("{} is damaged or no index of Megatron: {}; write the set again", in_quotes(path), reason));
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
    if (n_tokens < 0 || offset < 0 || begin % type_.n_bytes != 0 || begin > data_bytes ||
        n_bytes > data_bytes - begin) {
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

  [[noreturn]] void fail(const std::string& reason) const { throw_damaged_megatron_set(file_.path(), reason); }
  void release() const noexcept { file_.release(); }
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  void read_type() {
    const auto code = number_at<std::uint8_t>(bytes_, 17);
    const auto* known = std::find_if(megatron_types.begin(), megatron_types.end(),
                                     [code](const MegatronType& other) { return other.code == code; });
    if (known == megatron_types.end()) fail(fmt::format("its type {} is not that of whole numbers", code));
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
    file_.check_unchanged();
    index_.check_unchanged();
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

}  // namespace

std::string megatron_index_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".idx").string();
}

TokenSource open_megatron(const std::string& path) {
  auto set = std::make_unique<MegatronSet>(path);
  const TokenType type = set->type();
  return {std::move(set), type};
}

}  // namespace monomorph::data
