#pragma once
#include "data_test_support.hpp"

#include <monomorph/data/formats/packed_file.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

inline constexpr std::int64_t any_vocabulary = 1 << 30;

/// A packed file of the tokens first, first + 1, …, so that a token tells where it lies, in documents of these lengths.
inline std::string packed_documents(const std::vector<std::uint32_t>& lengths, std::uint32_t width = 4,
                                    std::uint32_t first = 0) {
  using namespace monomorph::data;
  const std::uint64_t n_tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  std::string bytes;
  for (const std::byte byte : packed_header(n_tokens * width, width)) bytes += static_cast<char>(byte);
  for (std::uint32_t token = first; token < first + n_tokens; ++token) {
    for (std::uint32_t i = 0; i < width; ++i) bytes += static_cast<char>(token >> (8 * i));
  }
  SpanIndexWriter index([&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  std::uint64_t offset = 0;
  for (const std::uint32_t length : lengths) {
    index.add({offset, std::uint64_t{length} * width});
    offset += std::uint64_t{length} * width;
  }
  index.finish();
  return bytes;
}

/// The same, all tokens being one document.
inline std::string counting_file(std::uint32_t n_tokens, std::uint32_t width = 4, std::uint32_t first = 0) {
  return packed_documents({n_tokens}, width, first);
}
