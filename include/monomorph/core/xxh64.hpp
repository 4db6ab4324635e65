#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH64_state_s;  // of xxhash.h, which only xxh64.cpp needs

namespace monomorph {

/// XXH64 (the 64-bit xxHash) of bytes that come in pieces: detects damage of files at several GB/s, not tampering.
class Xxh64 {
 public:
  explicit Xxh64(std::uint64_t seed = 0);
  Xxh64(const Xxh64& other);
  Xxh64& operator=(const Xxh64& other);

  void update(std::span<const std::byte> bytes);
  /// The hash of everything so far; more may follow.
  std::uint64_t digest() const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH64_state_s, Free> state_;
};

/// XXH64 of `bytes` with seed 0.
std::uint64_t xxh64(std::span<const std::byte> bytes);

}  // namespace monomorph
