#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include "checkpoint_part.hpp"
#include "region_tiling.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

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
  void verify() {
    constexpr std::size_t piece_bytes = std::size_t{64} << 20;
    for (std::size_t first = 0; first < tensors_.bytes().size(); first += piece_bytes) {
      verify(tensors_.bytes(), first, first + piece_bytes);
      tensors_.release();
    }
  }

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
  check_whole();
}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;

void CheckpointReader::add_parts(std::size_t file) {
  const SafetensorsFile& tensors = files_[file].tensors();
  for (const TensorEntry& entry : tensors.tensors()) {
    try {
      const auto note = tensors.metadata().find(entry.name);
      add_part(file, entry, part_from(entry.shape, note == tensors.metadata().end() ? nullptr : &note->second));
    } catch (const std::invalid_argument& failure) {
      throw Error("CHECKPOINT-10",
                  fmt::format("{} holds a part of {} that does not fit the tensor: {}; use another checkpoint",
                              in_quotes(tensors.path()), in_quotes(entry.name), failure.what()));
    }
  }
}

void CheckpointReader::add_part(std::size_t file, const TensorEntry& entry, const PartOfTensor& part) {
  Parts& tensor = tensors_[entry.name];
  if (tensor.parts.empty()) tensor.whole = {entry.dtype, part.shape, *element_count(part.shape)};
  if (tensor.whole.dtype != entry.dtype || tensor.whole.shape != part.shape)
    throw std::invalid_argument("another file says that the tensor has another dtype or shape");
  tensor.parts.push_back({file, &entry, part.run});
}

void CheckpointReader::check_whole() const {
  for (const auto& [name, tensor] : tensors_) {
    std::vector<RegionRun> runs;
    for (const Part& part : tensor.parts) runs.push_back(part.run);
    if (const auto first = first_not_held_once(dims_of(tensor.whole.shape), std::move(runs)))
      throw Error("CHECKPOINT-10",
                  fmt::format("the files of {} do not hold each element of {} once, from {} on; use another "
                              "checkpoint",
                              in_quotes(path_), in_quotes(name), *first));
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

const CheckpointReader::Parts& CheckpointReader::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw Error("SAFETENSORS-09",
                fmt::format("{} has no tensor {}; is it of another model?", in_quotes(path_), in_quotes(name)));
  return found->second;
}

void CheckpointReader::read(const std::string& name, std::int64_t first, std::span<std::byte> to) {
  read(name, Region::whole(dims_of(at(name).whole.shape)), first, to);
}

void CheckpointReader::read(const std::string& name, const Region& region, std::int64_t first,
                            std::span<std::byte> to) {
  const Parts& tensor = at(name);
  const std::size_t width = bytes_per_element(tensor.whole.dtype);
  const RegionRun wanted{region, first, static_cast<std::int64_t>(to.size() / width)};
  check_run(wanted, tensor.whole.shape, name);
  for (const Part& part : tensor.parts)
    for_each_shared_piece(wanted, part.run, [&](std::int64_t place, std::int64_t in_file, std::int64_t n) {
      const std::size_t n_bytes = static_cast<std::size_t>(n) * width;
      const std::byte* const bytes =
          files_[part.file].verified(*part.entry, static_cast<std::size_t>(in_file - part.run.first) * width, n_bytes);
      std::memcpy(to.data() + static_cast<std::size_t>(place - first) * width, bytes, n_bytes);
    });
}

void CheckpointReader::verify() {
  for (File& file : files_) file.verify();
}

void CheckpointReader::release() const noexcept {
  for (const File& file : files_) file.tensors().release();
}

std::uint64_t CheckpointReader::bytes_read() const {
  std::uint64_t n = 0;
  for (const File& file : files_) n += file.bytes_read();
  return n;
}

}  // namespace monomorph::runtime
