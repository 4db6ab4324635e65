#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// Where a document lies.
struct DocumentSpan {
  std::uint64_t offset, length;  ///< in bytes
  friend bool operator==(const DocumentSpan&, const DocumentSpan&) = default;
};

/// Writes a list of (offset, length) as Python's pickle.dumps does with protocol 4, byte for byte, piece by piece.
class SpanIndexWriter {
 public:
  /// `sink` takes the bytes, in order.
  explicit SpanIndexWriter(std::function<void(std::span<const std::byte>)> sink);
  void add(DocumentSpan span);
  /// To be called once, after the last span.
  void finish();
  std::int64_t size() const noexcept { return size_; }

 private:
  void begin_value();
  void close_frame();
  void put(unsigned char byte);
  void put_little_endian(std::uint64_t value, int n_bytes);
  void put_integer(std::uint64_t value);
  void put_span(DocumentSpan span);

  std::function<void(std::span<const std::byte>)> sink_;
  std::vector<std::byte> frame_;
  std::int64_t size_ = 0;
  DocumentSpan first_{};  ///< kept back: a list of one is written in another way
};

/// Calls `visit` for each span of such a pickle (protocols 2 to 5; as other programs frame it, too). Nothing in it is
/// executed: it knows lists, tuples and whole numbers from 0 to 2^63 - 1 and refuses all else.
/// @param name the file, for messages   @throws [DATA-05]
void for_each_span(std::span<const std::byte> pickle, const std::string& name,
                   const std::function<void(DocumentSpan)>& visit);

/// The same; `visit` is also told how many bytes of the pickle have been read.
void for_each_span(std::span<const std::byte> pickle, const std::string& name,
                   const std::function<void(DocumentSpan, std::uint64_t n_read)>& visit);

std::vector<DocumentSpan> read_span_index(std::span<const std::byte> pickle, const std::string& name);

}  // namespace monomorph::data
