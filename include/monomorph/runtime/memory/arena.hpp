#pragma once
#include <monomorph/runtime/memory/allocator.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph {

/// The one allocation of a rank in a memory space, sized by the plan and zero at first. At start-up the flat buffers
/// are cut from it, each at a multiple of 64 bytes.
class Arena {
 public:
  /// @throws UsageError [ARENA-02] if the system does not give so much memory; what to do is for the caller to add
  explicit Arena(std::int64_t bytes, const Allocator& allocator = main_memory);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// @throws [ARENA-01] if the plan did not foresee the buffer: an error of Monomorph's, not of its user
  View take(std::int64_t elements, DType dtype);
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t unused_bytes() const { return bytes_ - used_; }

 private:
  const Allocator& allocator_;
  std::int64_t bytes_, used_ = 0;
  std::byte* data_;
};

}  // namespace monomorph
