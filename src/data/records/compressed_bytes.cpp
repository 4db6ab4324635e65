#include "data/records/compressed_bytes.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <utility>

namespace monomorph::data {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
// No text that is worth training on shrinks to a thousandth, and gzip cannot say more with less. A small file does no
// harm.
constexpr std::uint64_t harmless_bytes = std::uint64_t{1} << 30, most_of_a_byte = 4096;

}  // namespace

void refuse_bomb(const std::string& path, std::uint64_t n_read, std::uint64_t n_text) {
  if (n_text > harmless_bytes && n_text / most_of_a_byte > n_read)
    throw Error("DATA-72", fmt::format("{} is a bomb: {} bytes of it have become {} of text; do not use it",
                                       in_quotes(path), n_read, n_text));
}

CompressedBytes::CompressedBytes(const std::string& path, ReadCompressed read)
    : path_(path), read_(std::move(read)), buffer_(buffer_bytes) {}

bool CompressedBytes::fill() {
  if (size() > 0) return true;
  begin_ = 0;
  end_ = read_(buffer_.data(), buffer_.size());
  n_read_ += end_;
  return end_ > 0;
}

void CompressedBytes::count_text(std::size_t n_bytes) {
  n_text_ += n_bytes;
  refuse_bomb(path_, n_read_, n_text_);
}

void CompressedBytes::throw_damaged(std::string_view why) const {
  throw Error("DATA-70", fmt::format("{} is damaged about its byte {}: {}; copy or compress it again", in_quotes(path_),
                                     n_read_ - size(), why));
}

}  // namespace monomorph::data
