#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace monomorph::train {

/// The CRC-32 of zip archives (polynomial 0xEDB88320, reflected) of bytes that come in pieces.
class Crc32 {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFF'FFFF;
};

}  // namespace monomorph::train
