#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"

#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"

#include <bit>

namespace monomorph::data {
namespace {

/// As the library reads them: the lower 32 bits count, and an unknown value is one that is not given.
template <class Enumeration> void read_enumeration(std::uint64_t read, Enumeration last, Enumeration& result) {
  const std::uint64_t value = static_cast<std::uint32_t>(read);
  if (value >= 1 && value <= static_cast<std::uint64_t>(last)) result = Enumeration{value};
}

}  // namespace

SentencePieceFile::SentencePieceFile(std::string_view bytes) {
  enum : std::uint32_t { pieces_field = 1, training_field = 2, normalization_field = 3 };
  MessageReader fields(bytes);
  while (const auto field = fields.next()) {
    if (field->is_bytes(pieces_field)) read_piece(field->bytes);
    if (field->is_bytes(training_field)) read_training(field->bytes);
    if (field->is_bytes(normalization_field)) read_normalization(field->bytes);
  }
}

PieceTrie SentencePieceFile::trie_of_text() const {
  std::vector<PieceTrie::Entry> entries;
  for (std::size_t id = 0; id < pieces.size(); ++id)
    if (pieces[id].is_found_in_text()) entries.emplace_back(pieces[id].text, static_cast<std::int32_t>(id));
  return PieceTrie(std::move(entries));
}

void SentencePieceFile::read_piece(std::string_view message) {
  enum : std::uint32_t { text_field = 1, score_field = 2, type_field = 3 };
  Piece piece;
  MessageReader fields(message);
  while (const auto field = fields.next()) {
    if (field->is_bytes(text_field)) piece.text = field->bytes;
    if (field->is_float(score_field)) piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->is_integer(type_field)) read_enumeration(field->value, Type::byte, piece.type);
  }
  pieces.push_back(piece);
}

void SentencePieceFile::read_training(std::string_view message) {
  enum : std::uint32_t { algorithm_field = 3, spaces_end_words_field = 24, byte_pieces_field = 35 };
  MessageReader fields(message);
  while (const auto field = fields.next()) {
    if (field->is_integer(algorithm_field)) read_enumeration(field->value, Algorithm::character, algorithm);
    if (field->is_integer(spaces_end_words_field)) spaces_end_words = field->value != 0;
    if (field->is_integer(byte_pieces_field)) has_byte_pieces = field->value != 0;
  }
}

void SentencePieceFile::read_normalization(std::string_view message) {
  enum : std::uint32_t { map_field = 2, adds_space_field = 3, drops_spaces_field = 4, marks_spaces_field = 5 };
  MessageReader fields(message);
  while (const auto field = fields.next()) {
    if (field->is_bytes(map_field)) character_map = field->bytes;
    if (field->is_integer(adds_space_field)) adds_space = field->value != 0;
    if (field->is_integer(drops_spaces_field)) drops_extra_spaces = field->value != 0;
    if (field->is_integer(marks_spaces_field)) marks_spaces = field->value != 0;
  }
}

}  // namespace monomorph::data
