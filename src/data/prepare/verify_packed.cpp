#include "data/formats/piece_reader.hpp"
#include "data/formats/token_bytes.hpp"
#include "data/prepare/findings.hpp"

#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <algorithm>
#include <optional>

namespace monomorph::data {
namespace {

/// How many of the ids are `limit` or more, and the first of them.
struct LargeIds {
  std::int64_t count = 0;
  std::uint64_t first_index = 0, first_id = 0;

  template <class Id> void look_into(std::span<const std::byte> bytes, std::uint64_t limit, std::uint64_t index) {
    const std::size_t n_ids = bytes.size() / sizeof(Id);
    const auto id = [&](std::size_t i) { return number_at<Id>(bytes, i * sizeof(Id)); };
    std::size_t n_large = 0;
    for (std::size_t i = 0; i < n_ids; ++i) n_large += id(i) >= limit ? 1 : 0;
    if (n_large > 0 && count == 0) {
      std::size_t i = 0;
      while (id(i) < limit) ++i;
      first_index = index + i;
      first_id = id(i);
    }
    count += static_cast<std::int64_t>(n_large);
  }
};

/// Looks at one document after the other.
class PackedCheck {
 public:
  PackedCheck(const PackedFile& file, const VerifySettings& settings, Findings& findings)
      : file_(file),
        width_(file.bytes_per_token()),
        settings_(settings),
        findings_(findings),
        pieces_(file.data(), [&file] { file.release(); }) {}

  void check_width() {
    const std::uint64_t n_ids = std::uint64_t{1} << (8 * width_);
    if (settings_.vocab_size && static_cast<std::uint64_t>(*settings_.vocab_size) > n_ids) {
      findings_.add(
          "{} bytes per token can hold {} ids, and the vocabulary has {}: larger ids were cut, if there were "
          "any",
          width_, n_ids, *settings_.vocab_size);
    }
  }

  void check(DocumentSpan span) {
    const auto [offset, length] = span;
    const std::int64_t number = summary.n_documents++;
    check_place(number, span);
    const std::uint64_t data_bytes = file_.data().size();
    if (offset > data_bytes || length > data_bytes - offset) {
      findings_.add("document {} of {} bytes at byte {} reaches beyond the {} bytes of tokens", number, length, offset,
                    data_bytes);
    } else if (offset % width_ != 0 || length % width_ != 0) {
      findings_.add("document {} of {} bytes at byte {} cuts a token of {} bytes", number, length, offset, width_);
    } else {
      check_tokens(number, span);
    }
  }

  /// To be called after the last document.
  void check_end() {
    if (summary.n_documents == 0) findings_.add("there are no documents");
    if (end_ < file_.data().size()) {
      findings_.add("the last {} bytes of tokens are in no document", file_.data().size() - end_);
    }
    summary.n_tokens = file_.n_tokens();
  }

  VerifySummary summary;

 private:
  void check_place(std::int64_t number, DocumentSpan span) {
    if (span.offset > end_) {
      findings_.add("document {} begins at byte {}, and the one before it ended at {}: {} bytes are in no document{}",
                    number, span.offset, end_, span.offset - end_,
                    span.offset - end_ == packed_header_bytes ? " (merging files with Modalities shifts them so)" : "");
    } else if (span.offset < end_) {
      findings_.add("document {} begins at byte {}, before the end of the one before it at {}", number, span.offset,
                    end_);
    }
    end_ = std::max(end_, span.offset + std::min(span.length, ~span.offset));
  }

  void check_tokens(std::int64_t number, DocumentSpan span) {
    const std::uint64_t n_tokens = span.length / width_;
    std::optional<std::uint64_t> last;
    if (n_tokens > 0) last = id(span.offset + span.length - width_);
    const bool ends = settings_.end_of_document && last == static_cast<std::uint64_t>(*settings_.end_of_document);
    if (n_tokens == 0 || (ends && n_tokens == 1)) ++summary.n_empty_documents;
    if (settings_.end_of_document && !ends) {
      findings_.add("document {} does not end in the token {} but {}", number, *settings_.end_of_document,
                    last ? fmt::format("in {}", *last) : "has no tokens");
    }
    if (settings_.vocab_size) check_ids(number, span, static_cast<std::uint64_t>(*settings_.vocab_size));
  }

  void check_ids(std::int64_t number, DocumentSpan span, std::uint64_t limit) {
    LargeIds large;
    std::uint64_t index = 0;
    pieces_.read(span.offset, span.length, [&](std::span<const std::byte> piece) {
      with_id_type(width_, [&](auto id) { large.look_into<decltype(id)>(piece, limit, index); });
      index += piece.size() / width_;
    });
    if (large.count == 0) return;
    findings_.add("document {}: {} ids are not below {}, the first of them {} at token {}", number, large.count, limit,
                  large.first_id, large.first_index);
  }

  std::uint64_t id(std::uint64_t offset) const {
    return with_id_type(width_, [&](auto type) {
      return static_cast<std::uint64_t>(number_at<decltype(type)>(file_.data(), offset));
    });
  }

  const PackedFile& file_;
  std::uint32_t width_;
  const VerifySettings& settings_;
  Findings& findings_;
  PieceReader pieces_;
  std::uint64_t end_ = 0;  ///< of the documents so far
};

}  // namespace

VerifySummary verify_packed(const std::string& path, const VerifySettings& settings, const FindingCallback& report,
                            const ProgressCallback& progress) {
  Findings findings(report);
  VerifySummary summary;
  std::optional<PackedFile> file;
  if (findings.check([&] { file.emplace(path); })) {
    PackedCheck check(*file, settings, findings);
    WorkCounter counter(progress, file->data().size());
    check.check_width();
    const bool readable = findings.check([&] {
      for_each_span(file->index(), path, [&](DocumentSpan span) {
        check.check(span);
        counter.add(span.length);
        constexpr std::int64_t documents_between_releases = std::int64_t{1} << 20;
        if (check.summary.n_documents % documents_between_releases == 0) file->release();
      });
    });
    if (readable) check.check_end();
    findings.check([&] { check.summary.has_loss_mask = LossMask::beside(*file).has_value(); });
    file->check_unchanged();
    summary = check.summary;
  }
  summary.n_findings = findings.count();
  return summary;
}

}  // namespace monomorph::data
