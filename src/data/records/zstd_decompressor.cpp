#ifdef MONOMORPH_HAS_ZSTD
#include "data/records/compressed_bytes.hpp"
#include "data/records/decompressor.hpp"

#include <zstd.h>

#include <memory>
#include <new>
#include <utility>

namespace monomorph::data {
namespace {

/// A zstd file is one frame or more, of which the texts follow each other; frames of other things are passed over. A
/// frame says how much memory it takes to read it: one of more than 128 MiB, the library's own limit, is refused.
class ZstdDecompressor final : public TextSource {
 public:
  ZstdDecompressor(const std::string& path, ReadCompressed read)
      : bytes_(path, std::move(read)), stream_(::ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

  std::size_t read_some(char* to, std::size_t n_bytes) override {
    ZSTD_outBuffer out{to, n_bytes, 0};
    while (out.pos == 0 && n_bytes > 0) {
      const bool has_input = bytes_.fill();
      if (!has_input && (!in_frame_ && began_)) break;
      if (!has_input && !decompress_some(out)) bytes_.throw_damaged("it is cut short");
      if (has_input) decompress_some(out);
    }
    bytes_.count_text(out.pos);
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const noexcept { ::ZSTD_freeDStream(stream); }
  };

  /// What the library keeps of a frame may come out without more input.   @return whether anything came of it
  bool decompress_some(ZSTD_outBuffer& out) {
    ZSTD_inBuffer in{bytes_.data(), bytes_.size(), 0};
    const std::size_t left = ::ZSTD_decompressStream(stream_.get(), &out, &in);
    bytes_.use(in.pos);
    if (::ZSTD_isError(left) != 0) bytes_.throw_damaged(::ZSTD_getErrorName(left));
    began_ = true;
    in_frame_ = left > 0;
    return in.pos > 0 || out.pos > 0;
  }

  CompressedBytes bytes_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool began_ = false, in_frame_ = false;
};

}  // namespace

std::unique_ptr<TextSource> make_zstd_decompressor(const std::string& path, ReadCompressed read) {
  return std::make_unique<ZstdDecompressor>(path, std::move(read));
}

}  // namespace monomorph::data
#endif
