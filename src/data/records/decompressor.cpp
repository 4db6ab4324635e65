#include "data/records/decompressor.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <utility>

namespace monomorph::data {
namespace {

constexpr std::string_view gzip_end = ".gz", zstd_end = ".zst";

/// Formats whose library was not there when the program was built.
[[noreturn, maybe_unused]] void throw_not_built(const std::string& path, std::string_view package) {
  throw UsageError("DATA-71",
                   fmt::format("{} is compressed, and this program was built without the library for that; "
                               "install {} (apt-get install {}), configure and build again, or decompress it",
                               in_quotes(path), package, package));
}

}  // namespace

Compression compression_of(std::string_view path) {
  if (path.ends_with(gzip_end)) return Compression::gzip;
  return path.ends_with(zstd_end) ? Compression::zstd : Compression::none;
}

std::string_view uncompressed_name(std::string_view path) {
  for (const std::string_view end : {gzip_end, zstd_end})
    if (path.ends_with(end)) return path.substr(0, path.size() - end.size());
  return path;
}

std::unique_ptr<TextSource> make_decompressor(Compression compression, const std::string& path,
                                              [[maybe_unused]] ReadCompressed read) {
  switch (compression) {
    case Compression::none:
      return nullptr;
    case Compression::gzip:
#ifdef MONOMORPH_HAS_ZLIB
      return make_gzip_decompressor(path, std::move(read));
#else
      throw_not_built(path, "zlib1g-dev");
#endif
    case Compression::zstd:
#ifdef MONOMORPH_HAS_ZSTD
      return make_zstd_decompressor(path, std::move(read));
#else
      throw_not_built(path, "libzstd-dev");
#endif
  }
  __builtin_unreachable();
}

}  // namespace monomorph::data
