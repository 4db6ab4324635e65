#pragma once
#include "data_test_support.hpp"

#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/formats/span_index.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Documents of token ids, and packed files of them.
using Tokens = std::vector<std::int64_t>;
using Documents = std::vector<Tokens>;

/// The little-endian bytes of a number.
inline std::string number_bytes(std::uint64_t number, std::size_t n_bytes) {
  std::string bytes;
  for (std::size_t i = 0; i < n_bytes; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

inline std::string pickled(const std::vector<monomorph::data::DocumentSpan>& spans) {
  std::string pickle;
  monomorph::data::SpanIndexWriter writer([&](std::span<const std::byte> bytes) {
    pickle.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  for (const auto span : spans) writer.add(span);
  writer.finish();
  return pickle;
}

inline std::string token_bytes(const Tokens& ids, std::size_t width) {
  std::string bytes;
  for (const std::int64_t id : ids) bytes += number_bytes(static_cast<std::uint64_t>(id), width);
  return bytes;
}

/// A packed file of these bytes and spans, however wrong they are.
inline std::string packed_bytes(const std::string& data, std::size_t width,
                                const std::vector<monomorph::data::DocumentSpan>& spans) {
  return number_bytes(data.size(), 8) + number_bytes(width, 4) + data + pickled(spans);
}

inline std::string packed_bytes(const Documents& documents, std::size_t width) {
  std::string data;
  std::vector<monomorph::data::DocumentSpan> spans;
  for (const Tokens& document : documents) {
    spans.push_back({data.size(), document.size() * width});
    data += token_bytes(document, width);
  }
  return packed_bytes(data, width, spans);
}

inline Documents documents_of(const std::string& path) {
  const monomorph::data::PackedFile file(path);
  const auto width = static_cast<std::int64_t>(file.bytes_per_token());
  Documents documents;
  for (const auto& [offset, length] : file.documents()) {
    std::vector<std::int32_t> ids(length / static_cast<std::uint64_t>(width));
    file.read(static_cast<std::int64_t>(offset) / width, ids);
    documents.emplace_back(ids.begin(), ids.end());
  }
  return documents;
}

/// Documents of 0 to `longest` ids below `limit`, the first of each its number, so that no two are alike.
inline Documents random_documents(std::size_t n, std::size_t longest, std::int64_t limit, unsigned seed) {
  std::mt19937 random(seed);
  Documents documents(n);
  for (std::size_t i = 0; i < n; ++i) {
    documents[i].push_back(static_cast<std::int64_t>(i));
    const std::size_t n_more = random() % longest;
    while (documents[i].size() <= n_more) documents[i].push_back(random() % limit);
  }
  return documents;
}

inline Documents sorted(Documents documents) {
  std::sort(documents.begin(), documents.end());
  return documents;
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::string line;
  for (const char byte : monomorph::read_text_file(path)) {
    if (byte == '\n') {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += byte;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}
