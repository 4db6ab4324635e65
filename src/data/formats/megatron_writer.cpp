#include "data/formats/megatron_types.hpp"
#include "data/formats/token_formats.hpp"
#include "data/work/spill_file.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace monomorph::data {
namespace {

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
      throw Error("DATA-48", fmt::format("{}: document {} has {} tokens, and Megatron's index counts 2^31 - 1 at most; "
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
    const auto* code = std::find_if(megatron_types.begin(), megatron_types.end(), [this](const MegatronType& other) {
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
    // NOLINTNEXTLINE(bugprone-infinite-loop): each turn has an n_read of its own
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

std::unique_ptr<DocumentSink> create_megatron(const std::string& path, std::uint32_t bytes_per_token) {
  return std::make_unique<MegatronWriter>(path, bytes_per_token);
}

}  // namespace monomorph::data
