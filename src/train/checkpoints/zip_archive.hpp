#pragma once
#include <monomorph/runtime/files/safetensors.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// Writes a zip archive of stored, uncompressed records in one pass, so that it can go to a pipe as well. The bytes of
/// each record begin at a multiple of 64, by which torch.load may map them into memory. Archives and records may have
/// more than 4 GiB (ZIP64).
class ZipArchive {
 public:
  /// @param sink takes the bytes of the archive in their order
  explicit ZipArchive(runtime::ByteSink sink) : sink_(std::move(sink)) {}

  /// @param give gives the `n_bytes` of the record to a sink, in pieces   @throws what give throws
  void add(std::string_view name, std::uint64_t n_bytes, const std::function<void(const runtime::ByteSink&)>& give);
  /// Writes the directory of the records. To be called once, at the end.
  void finish();

 private:
  struct Record {
    std::string name;
    std::uint64_t n_bytes;
    std::uint64_t offset;  ///< of its header in the archive
    std::uint32_t crc = 0;
  };
  void write(std::string_view bytes);
  void write_header(const Record& record);
  void write_descriptor(const Record& record);
  void write_directory_entry(const Record& record);
  void write_end(std::uint64_t directory_begin);

  runtime::ByteSink sink_;
  std::uint64_t n_written_ = 0;
  std::vector<Record> records_;
};

}  // namespace monomorph::train
