#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// Numbers as they lie in files: the lowest byte first, at any place.
namespace monomorph::data {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

template <class Number> Number number_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

/// Rewrites ids of one type as ids of another, which must have room for them.
template <class From, class To> void copy_ids(std::span<const std::byte> from, std::byte* to) {
  for (std::size_t i = 0; i < from.size() / sizeof(From); ++i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number of one byte, not a character
    const auto id = static_cast<To>(number_at<From>(from, i * sizeof(From)));
    std::memcpy(to + i * sizeof(To), &id, sizeof id);
  }
}

/// Calls `action` with a zero of the type that the ids of a packed file have.
template <class Action> auto with_id_type(std::uint32_t bytes_per_token, Action action) {
  switch (bytes_per_token) {
    case 1:
      return action(std::uint8_t{});
    case 2:
      return action(std::uint16_t{});
    default:
      return action(std::uint32_t{});
  }
}

}  // namespace monomorph::data
