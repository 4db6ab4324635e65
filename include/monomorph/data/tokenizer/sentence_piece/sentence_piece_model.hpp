#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A SentencePiece `.model` file: text to ids and back as its own library does it. Immutable; threads may share one.
class SentencePieceModel {
 public:
  enum class Kind {
    text,     ///< stands for the text that it shows
    byte,     ///< one byte of what has no piece: "<0x0A>"
    control,  ///< stands for no text: "<s>"; never found in the text
    unknown,
    unused,
  };

  /// @throws [TOK-43], [TOK-44] if the file is not such a model
  explicit SentencePieceModel(const std::string& path);
  SentencePieceModel(SentencePieceModel&&) noexcept;
  SentencePieceModel& operator=(SentencePieceModel&&) noexcept;
  ~SentencePieceModel();

  /// Appends the ids of `text`; of broken UTF-8, each group of bytes counts as one U+FFFD.
  /// @throws [TOK-45] if the library fails
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;
  /// The same, of valid UTF-8, by the library itself, which takes a hundred times the memory of the text and more.
  /// @throws [TOK-45]
  void encode_with_library(std::string_view text, std::vector<std::int32_t>& ids) const;

  /// The text of `ids`.  @throws [TOK-04] for an id without a piece
  std::string decode(std::span<const std::int32_t> ids) const;

  std::int32_t vocab_size() const;
  /// The piece as the file writes it, with U+2581 for a space.  @throws [TOK-04]
  const std::string& piece(std::int32_t id) const;
  Kind kind(std::int32_t id) const;  ///< @throws [TOK-04]
  std::optional<std::int32_t> find(std::string_view piece) const;
  /// What the model calls the end and the beginning of a text, if it has them.
  std::optional<std::int32_t> end_id() const;
  std::optional<std::int32_t> begin_id() const;

 private:
  struct Library;
  std::unique_ptr<const Library> library_;
  std::string path_;
};

}  // namespace monomorph::data
