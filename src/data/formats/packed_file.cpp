#include "data/formats/token_bytes.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/packed_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

namespace monomorph::data {
namespace {

template <class... Arguments>
[[noreturn]] void throw_damaged_packed_file(const std::string& path, fmt::format_string<Arguments...> text,
                                            Arguments&&... arguments) {
  throw Error("DATA-06", fmt::format("{} is cut short or no packed file: {}; pack it again with monomorph-data pack",
                                     in_quotes(path), fmt::format(text, std::forward<Arguments>(arguments)...)));
}

/// Whether the frames of a pickle fill it and it ends as one does: finds a file that was cut short without reading it.
bool frames_fill(const MappedFile& file, std::span<const std::byte> pickle) {
  constexpr std::size_t bytes_between_releases = std::size_t{32} << 20;
  constexpr std::byte frame_opcode{0x95}, stop_opcode{'.'};
  if (pickle.size() < 3 || pickle.back() != stop_opcode) return false;
  std::size_t position = 2, released = 0;
  while (position < pickle.size() && pickle[position] == frame_opcode) {
    if (pickle.size() - position < 9) return false;
    const auto n_bytes = number_at<std::uint64_t>(pickle, position + 1);
    position += 9;
    if (n_bytes == 0 || n_bytes > pickle.size() - position) return false;
    position += n_bytes;
    // Reading one place brings many pages around it into memory.
    if (position - released >= bytes_between_releases) {
      file.release();
      released = position;
    }
  }
  const bool framed = position > 2;
  return !framed || position == pickle.size();
}

template <class Id> Id largest_of(std::span<const std::byte> ids) {
  Id largest = 0;
  for (std::size_t i = 0; i < ids.size(); i += sizeof(Id)) largest = std::max(largest, number_at<Id>(ids, i));
  return largest;
}

std::int32_t to_int32(std::uint32_t id) {
  return static_cast<std::int32_t>(std::min<std::uint32_t>(id, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

std::array<std::byte, packed_header_bytes> packed_header(std::uint64_t data_bytes, std::uint32_t bytes_per_token) {
  std::array<std::byte, packed_header_bytes> header{};
  for (std::size_t i = 0; i < 8; ++i) header[i] = static_cast<std::byte>(data_bytes >> (8 * i));
  for (std::size_t i = 0; i < 4; ++i) header[8 + i] = static_cast<std::byte>(bytes_per_token >> (8 * i));
  return header;
}

std::uint32_t bytes_per_token_for(std::int64_t vocab_size) {
  return vocab_size <= 256 ? 1 : vocab_size <= 65536 ? 2 : 4;
}

PackedFile::PackedFile(const std::string& path) : file_(path) {
  const std::span<const std::byte> bytes = file_.bytes();
  if (bytes.size() < packed_header_bytes) {
    throw_damaged_packed_file(path, "it has {} bytes, less than the header's {}", bytes.size(), packed_header_bytes);
  }
  const auto data_bytes = number_at<std::uint64_t>(bytes, 0);
  const auto width = number_at<std::uint32_t>(bytes, 8);
  if (width != 1 && width != 2 && width != 4)
    throw_damaged_packed_file(path, "{} bytes per token, not 1, 2 or 4", width);
  const std::uint64_t n_left = bytes.size() - packed_header_bytes;
  if (data_bytes > n_left) {
    throw_damaged_packed_file(path, "the header promises {} bytes of tokens, and {} bytes follow it", data_bytes,
                              n_left);
  }
  if (data_bytes % width != 0) {
    throw_damaged_packed_file(path, "{} bytes of tokens are no multiple of {} bytes per token", data_bytes, width);
  }
  bytes_per_token_ = width;
  data_ = bytes.subspan(packed_header_bytes, data_bytes);
  index_ = bytes.subspan(packed_header_bytes + data_bytes);
  if (!frames_fill(file_, index_))
    throw_damaged_packed_file(path, "the {} bytes after its tokens are no complete index", index_.size());
}

std::int32_t PackedFile::read(std::int64_t first, std::span<std::int32_t> ids) const {
  const auto from = data_.subspan(static_cast<std::uint64_t>(first) * bytes_per_token_, ids.size() * bytes_per_token_);
  with_id_type(bytes_per_token_,
               [&](auto id) { copy_ids<decltype(id), std::int32_t>(from, std::as_writable_bytes(ids).data()); });
  std::uint32_t largest = 0;
  for (const std::int32_t id : ids) largest = std::max(largest, static_cast<std::uint32_t>(id));
  return to_int32(largest);
}

std::int32_t PackedFile::largest_id() const {
  constexpr std::size_t piece_bytes = std::size_t{16} << 20, pieces_between_releases = 16, pieces_per_thread = 4,
                        most_threads = 8;
  const std::size_t n_pieces = (data_.size() + piece_bytes - 1) / piece_bytes;
  std::atomic<std::size_t> next_piece = 0;
  std::atomic<std::uint32_t> largest = 0;
  const auto look = [&] {
    std::uint32_t seen = 0;
    for (std::size_t i = next_piece++; i < n_pieces; i = next_piece++) {
      const auto piece = data_.subspan(i * piece_bytes, std::min(piece_bytes, data_.size() - i * piece_bytes));
      seen = std::max(seen, with_id_type(bytes_per_token_,
                                         [&](auto id) -> std::uint32_t { return largest_of<decltype(id)>(piece); }));
      if ((i + 1) % pieces_between_releases == 0) release();  // pages that other threads still read are mapped again
    }
    for (std::uint32_t known = largest; known < seen && !largest.compare_exchange_weak(known, seen);) {
    }
  };
  {
    const std::size_t n_threads =
        std::min({std::size_t{std::thread::hardware_concurrency()}, n_pieces / pieces_per_thread, most_threads});
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < n_threads; ++i) threads.emplace_back(look);
    } catch (const std::system_error&) {  // the threads that could be started do the work
    }
    look();
  }
  return to_int32(largest);
}

void PackedFile::for_each_document(const std::function<void(DocumentSpan)>& visit) const {
  constexpr std::int64_t documents_between_releases = std::int64_t{1} << 19;
  std::int64_t n_documents = 0;
  for_each_span(index_, path(), [&](DocumentSpan span) {
    const auto [offset, length] = span;
    if (offset > data_.size() || length > data_.size() - offset || offset % bytes_per_token_ != 0 ||
        length % bytes_per_token_ != 0) {
      throw_damaged_packed_file(
          path(), "its index has a document of {} bytes at {}, and there are {} bytes of tokens of {} bytes", length,
          offset, data_.size(), bytes_per_token_);
    }
    if (++n_documents % documents_between_releases == 0) release();
    visit(span);
  });
}

std::vector<DocumentSpan> PackedFile::documents() const {
  std::vector<DocumentSpan> spans;
  for_each_document([&spans](DocumentSpan span) { spans.push_back(span); });
  return spans;
}

}  // namespace monomorph::data
