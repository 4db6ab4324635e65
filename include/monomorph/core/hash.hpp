#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace monomorph {

/// The FNV-1a hash of `text`; a constant where `text` is one. Chain texts by passing the hash so far as `state`.
constexpr std::uint64_t fnv1a_64(std::string_view text, std::uint64_t state = 0xcbf29ce484222325u) {
  for (const char character : text) {
    state = (state ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  }
  return state;
}

/// XXH64 (the 64-bit xxHash) of bytes that come in pieces: detects damage of files at several GB/s, not tampering.
class Xxh64 {
 public:
  explicit Xxh64(std::uint64_t seed = 0);
  void update(std::span<const std::byte> bytes);
  /// The hash of everything so far; more may follow.
  std::uint64_t digest() const;

 private:
  static constexpr std::size_t stripe_bytes = 32;

  void consume_stripe(const std::byte* stripe);

  std::uint64_t seed_;
  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, stripe_bytes> pending_{};
  std::size_t n_pending_ = 0;
  std::uint64_t n_bytes_ = 0;
};

/// XXH64 of `bytes` with seed 0.
std::uint64_t xxh64(std::span<const std::byte> bytes);

}  // namespace monomorph
