#ifdef MONOMORPH_HAS_ZLIB
#include "data/records/compressed_bytes.hpp"
#include "data/records/decompressor.hpp"

#define ZLIB_CONST  // input is not written to
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace monomorph::data {
namespace {

/// A gzip file is one member or more, of which the texts follow each other. zlib checks the checksum of each.
class GzipDecompressor final : public TextSource {
 public:
  GzipDecompressor(const std::string& path, ReadCompressed read) : bytes_(path, std::move(read)) {
    constexpr int gzip_alone = 16;  // added to the window's bits
    if (::inflateInit2(&stream_, MAX_WBITS + gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  GzipDecompressor(const GzipDecompressor&) = delete;
  ~GzipDecompressor() override { ::inflateEnd(&stream_); }

  std::size_t read_some(char* to, std::size_t n_bytes) override {
    const auto room = static_cast<uInt>(std::min<std::size_t>(n_bytes, std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = room;
    while (stream_.avail_out == room && has_more()) inflate_some();
    bytes_.count_text(room - stream_.avail_out);
    return room - stream_.avail_out;
  }

 private:
  bool has_more() {
    if (bytes_.fill()) return true;
    if (in_member_ || !began_) bytes_.throw_damaged("it is cut short");
    return false;
  }

  void inflate_some() {
    if (!in_member_ && began_) ::inflateReset(&stream_);
    began_ = in_member_ = true;
    const auto size = static_cast<uInt>(bytes_.size());
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes_.data());
    stream_.avail_in = size;
    const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
    bytes_.use(size - stream_.avail_in);
    if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
    if (outcome == Z_STREAM_END)
      in_member_ = false;
    else if (outcome != Z_OK && outcome != Z_BUF_ERROR)
      bytes_.throw_damaged(stream_.msg != nullptr ? stream_.msg : "it is not what gzip writes");
  }

  CompressedBytes bytes_;
  z_stream stream_{};
  bool began_ = false, in_member_ = false;
};

}  // namespace

std::unique_ptr<TextSource> make_gzip_decompressor(const std::string& path, ReadCompressed read) {
  return std::make_unique<GzipDecompressor>(path, std::move(read));
}

}  // namespace monomorph::data
#endif
