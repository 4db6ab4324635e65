#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"

namespace monomorph::data {

std::optional<std::uint64_t> MessageReader::read_varint(unsigned most_bytes) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < most_bytes && !rest_.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7Fu} << (7 * i);
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

std::optional<std::string_view> MessageReader::read_bytes() {
  constexpr unsigned most_bytes_of_length = 5;
  const auto size = read_varint(most_bytes_of_length);
  if (!size || *size > rest_.size()) return std::nullopt;
  const std::string_view bytes = rest_.substr(0, *size);
  rest_.remove_prefix(bytes.size());
  return bytes;
}

std::optional<MessageReader::Field> MessageReader::read_field() {
  constexpr unsigned most_bytes_of_tag = 5, most_bytes_of_integer = 10;
  const auto read = read_varint(most_bytes_of_tag);
  if (!read) return std::nullopt;
  const auto tag = static_cast<std::uint32_t>(*read);  // as the library has it, whatever more a fifth byte holds
  Field field{tag >> 3, static_cast<Wire>(tag & 7), {}};
  const auto with_value = [&](std::optional<std::uint64_t> value) {
    field.value = value.value_or(0);
    return value ? std::optional(field) : std::nullopt;
  };
  if (field.number == 0) return std::nullopt;
  switch (field.wire) {
    case Wire::varint:
      return with_value(read_varint(most_bytes_of_integer));
    case Wire::eight_bytes:
      return with_value(read_fixed(8));
    case Wire::four_bytes:
      return with_value(read_fixed(4));
    case Wire::begin_group:
    case Wire::end_group:
      return field;
    case Wire::length_and_bytes:
      if (const auto bytes = read_bytes()) {
        field.bytes = *bytes;
        return field;
      }
  }
  return std::nullopt;
}

std::optional<MessageReader::Field> MessageReader::next() {
  int open_groups = 0;
  while (is_whole_ && !rest_.empty()) {
    const auto field = read_field();
    is_whole_ = field && (field->wire != Wire::end_group || open_groups > 0);
    if (!is_whole_) return std::nullopt;
    if (field->wire == Wire::begin_group) {
      ++open_groups;
    } else if (field->wire == Wire::end_group) {
      --open_groups;
    } else if (open_groups == 0) {
      return field;
    }
  }
  is_whole_ = is_whole_ && open_groups == 0;
  return std::nullopt;
}

}  // namespace monomorph::data
