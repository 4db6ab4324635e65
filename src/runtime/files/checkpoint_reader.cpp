#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include "checkpoint_part.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace monomorph::runtime {

/// A rank's file, of which each block is compared with its checksum when it is first looked at.
class CheckpointReader::File {
 public:
  File(const std::string& folder, const CheckpointFile& record)
      : record_(record), verified_(record.checksums.size()), tensors_(open(folder + "/" + record.name)) {}

  const SafetensorsFile& tensors() const { return tensors_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// The bytes of a tensor from `offset` on.
  const std::byte* verified(const TensorEntry& entry, std::size_t offset, std::size_t n) {
    const std::byte* const begin = tensors_.data(entry) + offset;
    const auto first = static_cast<std::size_t>(begin - tensors_.bytes().data());
    verify(tensors_.bytes(), first, first + n);
    return begin;
  }
  void verify() { verify(tensors_.bytes(), 0, tensors_.bytes().size()); }

 private:
  /// Checks the checksums of the header before the header itself is read.
  SafetensorsFile open(const std::string& path) {
    path_ = path;
    MappedFile file(path);
    const std::span<const std::byte> bytes = file.bytes();
    verify(bytes, 0, std::min<std::size_t>(bytes.size(), sizeof(std::uint64_t)));
    std::uint64_t header_bytes = 0;
    if (bytes.size() >= sizeof header_bytes) std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
    verify(bytes, 0, sizeof header_bytes + std::min<std::uint64_t>(header_bytes, bytes.size() - sizeof header_bytes));
    return SafetensorsFile(std::move(file));
  }

  void verify(std::span<const std::byte> file, std::size_t begin, std::size_t end) {
    end = std::min(end, file.size());
    for (std::size_t i = begin / record_.block_bytes; i * record_.block_bytes < end; ++i) {
      if (verified_[i]) continue;
      const std::size_t first = i * record_.block_bytes;
      const auto block = file.subspan(first, std::min<std::size_t>(record_.block_bytes, file.size() - first));
      if (xxh64(block) != record_.checksums[i])
        throw DamagedCheckpoint(
            "CHECKPOINT-05", fmt::format("{} is damaged: its bytes {} to {} have another checksum than when they were "
                                         "saved; use another checkpoint",
                                         in_quotes(path_), first, first + block.size()));
      verified_[i] = true;
      bytes_read_ += block.size();
    }
  }

  CheckpointFile record_;
  std::vector<bool> verified_;
  std::string path_;
  std::uint64_t bytes_read_ = 0;
  SafetensorsFile tensors_;
};

CheckpointReader::CheckpointReader(const std::string& path) : path_(path), metadata_(read_checkpoint_metadata(path)) {
  files_.reserve(metadata_.files.size());
  for (const CheckpointFile& record : metadata_.files) {
    files_.emplace_back(path, record);
    add_parts(files_.size() - 1);
  }
  for (auto& [name, tensor] : tensors_) std::ranges::sort(tensor.parts, {}, &Part::first);
  check_whole();
}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;

void CheckpointReader::add_parts(std::size_t file) {
  const SafetensorsFile& tensors = files_[file].tensors();
  for (const TensorEntry& entry : tensors.tensors()) {
    PartOfTensor part{0, entry.shape};
    if (const auto said = tensors.metadata().find(entry.name); said != tensors.metadata().end())
      if (const auto read = part_from(said->second)) part = *read;
    const auto whole = n_elements(part.shape);
    const auto n = static_cast<std::int64_t>((entry.end - entry.begin) / bytes_per_element(entry.dtype));
    auto& tensor = tensors_[entry.name];
    const bool is_first = tensor.parts.empty();
    if (!whole || part.first > *whole || n > *whole - part.first ||
        (!is_first && (tensor.whole.dtype != entry.dtype || tensor.whole.shape != part.shape)))
      throw Error("CHECKPOINT-10",
                  fmt::format("{} holds a part of {} that does not fit the tensor; use another checkpoint",
                              in_quotes(tensors.path()), in_quotes(entry.name)));
    if (is_first) tensor.whole = {entry.dtype, part.shape, *whole};
    tensor.parts.push_back({file, &entry, part.first, part.first + n});
  }
}

void CheckpointReader::check_whole() const {
  for (const auto& [name, tensor] : tensors_) {
    std::int64_t end = 0;
    for (const Part& part : tensor.parts) {
      if (part.first != end) break;
      end = part.end;
    }
    if (end != tensor.whole.n_elements || tensor.parts.back().end != end)
      throw Error("CHECKPOINT-10",
                  fmt::format("the files of {} do not hold each element of {} once, from {} on; use another "
                              "checkpoint",
                              in_quotes(path_), in_quotes(name), end));
  }
}

std::vector<std::string> CheckpointReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

const CheckpointReader::Tensor* CheckpointReader::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second.whole;
}

void CheckpointReader::read(const std::string& name, std::int64_t first, std::span<std::byte> to) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw Error("SAFETENSORS-09",
                fmt::format("{} has no tensor {}; is it of another model?", in_quotes(path_), in_quotes(name)));
  const std::size_t width = bytes_per_element(found->second.whole.dtype);
  const std::int64_t end = first + static_cast<std::int64_t>(to.size() / width);
  for (const Part& part : found->second.parts) {
    const std::int64_t from = std::max(first, part.first), until = std::min(end, part.end);
    if (from >= until) continue;
    const auto n_bytes = static_cast<std::size_t>(until - from) * width;
    const std::byte* const bytes =
        files_[part.file].verified(*part.entry, static_cast<std::size_t>(from - part.first) * width, n_bytes);
    std::memcpy(to.data() + static_cast<std::size_t>(from - first) * width, bytes, n_bytes);
  }
}

void CheckpointReader::verify() {
  for (File& file : files_) file.verify();
}

std::uint64_t CheckpointReader::bytes_read() const {
  std::uint64_t n = 0;
  for (const File& file : files_) n += file.bytes_read();
  return n;
}

}  // namespace monomorph::runtime
