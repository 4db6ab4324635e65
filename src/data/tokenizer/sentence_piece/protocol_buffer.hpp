#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace monomorph::data {

/// Goes through the fields of a message in the format of Protocol Buffers, and sees the fields that their library sees:
/// what this took for something else would be read there unchecked.
class MessageReader {
 public:
  /// How a field is written. What a field is follows from its number and from this: where this is not as the message's
  /// definition has it, the library passes over the field.
  enum class Wire : std::uint8_t { varint, eight_bytes, length_and_bytes, begin_group, end_group, four_bytes };

  struct Field {
    std::uint32_t number;
    Wire wire;
    std::string_view bytes;   ///< of a text, of bytes or of a message within; empty for a number
    std::uint64_t value = 0;  ///< of a number; of a floating-point one, its bits

    bool is_bytes(std::uint32_t which) const { return number == which && wire == Wire::length_and_bytes; }
    bool is_integer(std::uint32_t which) const { return number == which && wire == Wire::varint; }
    bool is_float(std::uint32_t which) const { return number == which && wire == Wire::four_bytes; }
  };

  explicit MessageReader(std::string_view message) : rest_(message) {}

  /// The next field, of which none is a group's; nothing at the end, or where the message is broken.
  std::optional<Field> next();
  /// Whether nothing that was read so far is broken.
  bool is_whole() const { return is_whole_; }

 private:
  std::optional<Field> read_field();
  std::optional<std::uint64_t> read_varint(unsigned most_bytes);
  std::optional<std::uint64_t> read_fixed(std::size_t n_bytes);
  std::optional<std::string_view> read_bytes();

  std::string_view rest_;
  bool is_whole_ = true;
};

}  // namespace monomorph::data
