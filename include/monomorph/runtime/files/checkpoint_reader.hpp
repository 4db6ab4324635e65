#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/spec/region_run.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace monomorph::runtime {

struct PartOfTensor;

/// [CHECKPOINT-05] What is read has another checksum than when it was saved.
class DamagedCheckpoint : public Error {
 public:
  using Error::Error;
};

/// Reads tensors of a checkpoint, and any region of them, whichever rank's file holds which part. Only what is asked
/// for is read, and it is compared with its checksums before it is returned.
class CheckpointReader {
 public:
  struct Tensor {
    FileDType dtype{};
    std::vector<std::int64_t> shape;
    std::int64_t n_elements = 0;
  };

  /// @throws what read_checkpoint_metadata throws; DamagedCheckpoint if a file's beginning is; [CHECKPOINT-10]
  ///   the files' parts do not make whole tensors; SAFETENSORS errors
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;

  const std::string& path() const { return path_; }
  const CheckpointMetadata& metadata() const { return metadata_; }
  std::vector<std::string> names() const;
  /// Null if there is none of that name.
  const Tensor* find(const std::string& name) const;

  /// Elements from `first` on, as many as `to` has room for.
  /// @throws DamagedCheckpoint if what is read is; [SAFETENSORS-09] there is no such tensor; [CHECKPOINT-12] it has no
  ///   such elements
  void read(const std::string& name, std::int64_t first, std::span<std::byte> to);
  /// The same of a region of the tensor, from its element `first` on in the order of its own rows.
  /// @param region in the dimensions that dims_of gives of the tensor's shape
  void read(const std::string& name, const Region& region, std::int64_t first, std::span<std::byte> to);
  /// Reads every byte.   @throws DamagedCheckpoint
  void verify();
  /// Takes what has been read out of this program's memory, so that going through a checkpoint of any size takes
  /// little.
  void release() const noexcept;
  /// Bytes that were read from the files so far, in whole checksum blocks.
  std::uint64_t bytes_read() const;

 private:
  class File;
  struct Part {
    std::size_t file;
    const TensorEntry* entry;
    RegionRun run;
  };
  struct Parts {
    Tensor whole;
    std::vector<Part> parts;  ///< in the order of the files; together each element once
  };
  const Parts& at(const std::string& name) const;
  void add_parts(std::size_t file);
  void add_part(std::size_t file, const TensorEntry& entry, const PartOfTensor& part);
  void check_whole() const;

  std::string path_;
  CheckpointMetadata metadata_;
  std::vector<File> files_;
  std::map<std::string, Parts> tensors_;
};

}  // namespace monomorph::runtime
