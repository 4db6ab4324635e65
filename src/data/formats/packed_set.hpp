#pragma once
#include "data/formats/piece_reader.hpp"

#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/formats/packed_file.hpp>

namespace monomorph::data {

/// The documents of a packed file.
class PackedSet : public DocumentSource {
 public:
  /// @throws as PackedFile does
  explicit PackedSet(const std::string& path) : file_(path), pieces_(file_.data(), [this] { file_.release(); }) {}

  /// @throws [DATA-06], too, if a token is in no document or in several: work would lose it or repeat it
  void for_each(const Visitor& visit) override;
  void read(const PieceVisitor& visit) override { pieces_.read(current_.offset, current_.length, visit); }
  std::uint64_t n_bytes() const override { return file_.data().size(); }
  const std::string& path() const override { return file_.path(); }

 private:
  PackedFile file_;
  PieceReader pieces_;
  DocumentSpan current_{};
};

}  // namespace monomorph::data
