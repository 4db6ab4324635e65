#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/loading/document_starts.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr unsigned piece_bits = 16;
constexpr std::uint64_t piece_mask = (std::uint64_t{1} << piece_bits) - 1;

[[noreturn]] void throw_gap(const std::string& path, std::uint64_t token) {
  throw Error(
      "DATA-62",
      fmt::format("the documents that the index of {} lists do not follow each other at token {}, so that "
                  "their boundaries are unknown; pack it again with monomorph-data pack, or take a recipe whose "
                  "attention does not ask for them",
                  in_quotes(path), token));
}

}  // namespace

DocumentStarts::DocumentStarts(const PackedFile& file) {
  const auto n_tokens = static_cast<std::uint64_t>(file.n_tokens());
  const std::uint64_t width = file.bytes_per_token();
  piece_begin_.reserve((n_tokens >> piece_bits) + 2);
  std::uint64_t end = 0;
  file.for_each_document([&](DocumentSpan span) {
    if (span.offset != end * width) throw_gap(file.path(), end);
    if (span.length == 0) return;  // has no token that could begin
    add(end);
    end += span.length / width;
  });
  if (end != n_tokens) throw_gap(file.path(), end);
  piece_begin_.resize((n_tokens >> piece_bits) + 2, in_piece_.size());
  in_piece_.shrink_to_fit();
}

void DocumentStarts::add(std::uint64_t token) {
  if (piece_begin_.size() <= token >> piece_bits) piece_begin_.resize((token >> piece_bits) + 1, in_piece_.size());
  in_piece_.push_back(static_cast<std::uint16_t>(token & piece_mask));
}

void DocumentStarts::read(std::int64_t first, std::span<std::int32_t> starts) const {
  std::uint64_t piece = static_cast<std::uint64_t>(first) >> piece_bits;
  const auto begin = in_piece_.begin() + static_cast<std::ptrdiff_t>(piece_begin_[piece]);
  const auto end = in_piece_.begin() + static_cast<std::ptrdiff_t>(piece_begin_[piece + 1]);
  const auto in_piece = static_cast<std::uint16_t>(static_cast<std::uint64_t>(first) & piece_mask);
  auto next = static_cast<std::uint64_t>(std::upper_bound(begin, end, in_piece) - in_piece_.begin());
  std::size_t filled = 0;
  std::int32_t document = 0;
  for (; next < in_piece_.size(); ++next) {
    while (next == piece_begin_[piece + 1]) ++piece;
    const std::uint64_t token = piece << piece_bits | in_piece_[next];
    const std::size_t place = token - static_cast<std::uint64_t>(first);
    if (place >= starts.size()) break;
    std::fill(starts.begin() + static_cast<std::ptrdiff_t>(filled), starts.begin() + static_cast<std::ptrdiff_t>(place),
              document);
    document = static_cast<std::int32_t>(place);
    filled = place;
  }
  std::fill(starts.begin() + static_cast<std::ptrdiff_t>(filled), starts.end(), document);
}

}  // namespace monomorph::data
