#pragma once
#include <cstddef>
#include <map>
#include <string>

namespace monomorph::simulator {

/// What CUDA allocates: the GPU's memory, which its operations alone can reach, and memory of the host that stays in
/// place, which the host reaches, too. No address is given twice, and behind each allocation lies a page that nobody
/// can reach, so that what is used after it was freed, or beyond its end, ends the program.
class Memory {
 public:
  enum class Kind { gpu, host };

  Memory();
  /// @return null if the GPU has not so much   Its first 32 MiB are 0xFF, which are NaNs and negative integers.
  std::byte* allocate(std::size_t bytes, Kind kind);
  /// @return how many bytes it was
  std::size_t release(std::byte* memory);

  bool has(const void* address) const { return offset_of(address) < space; }
  std::size_t offset_of(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin_);
  }
  /// What cudaMemset does. Zeros in much memory take none of the machine's before somebody uses them.
  void fill(void* memory, int byte, std::size_t bytes);
  /// In words, for people.
  std::string place_of(const void* address) const;
  std::size_t free_gpu_bytes() const { return gpu_bytes - used_gpu_bytes_; }

  /// Whether the GPU's memory is within reach, as it is while operations run.
  void set_reachable(bool reachable);

  static constexpr std::size_t gpu_bytes = std::size_t{1} << 30;
  static constexpr std::size_t space = std::size_t{1} << 33;  ///< bytes of all that a test ever allocates

 private:
  struct Allocation {
    std::size_t bytes;
    Kind kind;
  };

  std::byte* begin_;
  std::size_t n_given_ = 0, used_gpu_bytes_ = 0;
  std::map<std::byte*, Allocation> live_;
  bool is_reachable_ = false;
};

}  // namespace monomorph::simulator
