#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"

namespace monomorph::data {

std::optional<std::uint64_t> MessageReader::read_number() {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> MessageReader::read_fixed(std::size_t n_bytes) {
  if (n_bytes > rest_.size()) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = n_bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(n_bytes);
  return number;
}

bool MessageReader::skip(std::uint64_t n_bytes) {
  if (n_bytes > rest_.size()) return false;
  rest_.remove_prefix(n_bytes);
  return true;
}

std::optional<MessageReader::Field> MessageReader::next() {
  enum : std::uint64_t { varint = 0, eight_bytes = 1, length_and_bytes = 2, four_bytes = 5 };
  const auto tag = read_number();
  if (!tag) return std::nullopt;
  const std::uint64_t number = *tag >> 3;
  const auto of_value = [number](std::optional<std::uint64_t> value) {
    return value ? std::optional(Field{number, {}, *value}) : std::nullopt;
  };
  switch (*tag & 7) {
    case varint:
      return of_value(read_number());
    case eight_bytes:
      return of_value(read_fixed(8));
    case four_bytes:
      return of_value(read_fixed(4));
    case length_and_bytes: {
      const auto size = read_number();
      const std::string_view before = rest_;
      return size && skip(*size) ? std::optional(Field{number, before.substr(0, *size)}) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace monomorph::data
