#pragma once
#include "data/records/text_source.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace monomorph::data {

/// Fills a buffer with the next bytes of a compressed file, and says how many; 0 at its end.
using ReadCompressed = std::function<std::size_t(char* to, std::size_t n_bytes)>;

enum class Compression { none, gzip, zstd };

/// By the end of the name: .gz or .zst.
Compression compression_of(std::string_view path);
/// The name without that end.
std::string_view uncompressed_name(std::string_view path);

/// @param path for messages   @throws UsageError [DATA-71] this program was built without the library for it
std::unique_ptr<TextSource> make_decompressor(Compression compression, const std::string& path, ReadCompressed read);

/// One for each format, defined where its library is there.
std::unique_ptr<TextSource> make_gzip_decompressor(const std::string& path, ReadCompressed read);
std::unique_ptr<TextSource> make_zstd_decompressor(const std::string& path, ReadCompressed read);

}  // namespace monomorph::data
