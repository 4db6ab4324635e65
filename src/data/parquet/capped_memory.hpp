#pragma once
#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace monomorph::data {

/// Memory for what is read of a file, which says how much that is: not more than there is a good reason for. What is
/// freed goes back to the system.
class CappedMemory final : public arrow::MemoryPool {
 public:
  explicit CappedMemory(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  using MemoryPool::Allocate;
  using MemoryPool::Free;
  using MemoryPool::Reallocate;
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    if (!has_room_for(size)) return no_room();
    return system_.Allocate(size, alignment, out);
  }
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** at) override {
    // Both are there while one is copied to the other.
    if (new_size > old_size && !has_room_for(new_size)) return no_room();
    return system_.Reallocate(old_size, new_size, alignment, at);
  }
  void Free(std::uint8_t* buffer, std::int64_t size, std::int64_t alignment) override {
    system_.Free(buffer, size, alignment);
  }
  std::int64_t bytes_allocated() const override { return system_.bytes_allocated(); }
  std::int64_t total_bytes_allocated() const override { return system_.total_bytes_allocated(); }
  std::int64_t num_allocations() const override { return system_.num_allocations(); }
  std::string backend_name() const override { return system_.backend_name(); }

 private:
  bool has_room_for(std::int64_t size) const { return size <= most_bytes_ - (bytes_allocated() - bytes_before_); }
  static arrow::Status no_room() { return arrow::Status::OutOfMemory("more than a reader may take"); }

  arrow::MemoryPool& system_ = *arrow::system_memory_pool();
  std::int64_t most_bytes_;
  std::int64_t bytes_before_ = system_.bytes_allocated();  ///< by other readers
};

}  // namespace monomorph::data
