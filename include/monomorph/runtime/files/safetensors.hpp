#pragma once
#include <monomorph/core/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::runtime {

/// The element types of the safetensors format that we read and write.
enum class FileDType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

std::size_t bytes_per_element(FileDType dtype);
/// The name in the file: "F32", "BF16", ...
std::string_view name_of(FileDType dtype);

/// One tensor of a file; row-major, little-endian.
struct TensorEntry {
  std::string name;
  FileDType dtype{};
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::size_t begin = 0;            ///< bytes from the start of the data section
  std::size_t end = 0;
};

using TensorMetadata = std::map<std::string, std::string>;

/// What a safetensors file says of itself, fully checked against its size.
struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  ///< in the order of their data
  TensorMetadata metadata;
  std::size_t data_begin = 0;  ///< bytes from the start of the file
};

/// Reads the header of a whole file that lies in memory. Every byte of the data section belongs to exactly one tensor.
/// @param path named in errors only
/// @throws [SAFETENSORS-01] the file is cut short or is none; [SAFETENSORS-02] the header is not the JSON it must be;
///   [SAFETENSORS-03] unknown dtype; [SAFETENSORS-04] impossible shape; [SAFETENSORS-05] offsets that do not fit dtype
///   and shape; [SAFETENSORS-06] overlap, hole, or data past the end
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path);

/// A safetensors file mapped into memory; entries and data live as long as this object.
class SafetensorsFile {
 public:
  /// @throws what MappedFile and parse_safetensors throw; [SAFETENSORS-07] a name that occurs twice
  static SafetensorsFile open(const std::string& path) { return SafetensorsFile(MappedFile(path)); }
  explicit SafetensorsFile(MappedFile file);

  std::span<const TensorEntry> tensors() const noexcept { return header_.tensors; }
  /// Null if there is none of that name.
  const TensorEntry* find(std::string_view name) const;
  /// @throws [SAFETENSORS-09] if there is none of that name
  const TensorEntry& at(std::string_view name) const;
  /// The tensor's bytes. Aligned to 64 in files of ours (see write_safetensors); a foreign file may have them anywhere.
  const std::byte* data(const TensorEntry& entry) const noexcept {
    return file_.bytes().data() + header_.data_begin + entry.begin;
  }
  const TensorMetadata& metadata() const noexcept { return header_.metadata; }
  std::span<const std::byte> bytes() const noexcept { return file_.bytes(); }  ///< of the whole file
  const std::string& path() const noexcept { return file_.path(); }
  void release() const noexcept { file_.release(); }  ///< as MappedFile::release

 private:
  MappedFile file_;
  SafetensorsHeader header_;
  std::vector<std::size_t> by_name_;  ///< indices of tensors, sorted by name
};

/// Takes the bytes of a file in their order, piece by piece.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// One tensor to be written: row-major. Its bytes lie at `data`, which may be null if the shape has a zero, or are
/// given to a sink by a function, where they don't all lie in memory at a time.
struct TensorToWrite {
  std::string name;
  FileDType dtype{};
  std::vector<std::int64_t> shape;
  const std::byte* data = nullptr;
  std::function<void(const ByteSink&)> give{};
};

/// Writes a whole safetensors file in one pass, without a copy of the data. The data section begins at a multiple of 64
/// bytes; tensors whose size is a multiple of 64 come first and so are aligned too, the rest by falling element size.
/// @throws [SAFETENSORS-04], [SAFETENSORS-07]; [SAFETENSORS-08] if a name or metadata is not UTF-8 or is reserved;
///   std::logic_error if a stream gives more or fewer bytes than its tensor has
void write_safetensors(const ByteSink& sink, std::span<const TensorToWrite> tensors, const TensorMetadata& metadata);
/// The same to a file, atomically.
void write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors, const TensorMetadata& metadata);

}  // namespace monomorph::runtime
