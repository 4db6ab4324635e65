#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace monomorph::data {

/// Goes through the fields of a message in the format of Protocol Buffers.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}

  struct Field {
    std::uint64_t number;
    std::string_view bytes;   ///< of a text, of bytes or of a message within; empty for a number
    std::uint64_t value = 0;  ///< of a number; of a floating-point one, its bits
  };
  /// The next field; nothing at the end, or where the message is broken.
  std::optional<Field> next();

 private:
  std::optional<std::uint64_t> read_number();
  std::optional<std::uint64_t> read_fixed(std::size_t n_bytes);
  bool skip(std::uint64_t n_bytes);

  std::string_view rest_;
};

}  // namespace monomorph::data
