#pragma once
#include <monomorph/data/formats/document_sink.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace monomorph::data {

/// How many documents there are and how many bytes they have.
struct SetSize {
  std::int64_t n_documents = 0;
  std::uint64_t n_bytes = 0;
};

/// A document that is being visited.
struct Document {
  std::int64_t number;    ///< from 0
  std::uint64_t n_bytes;  ///< of its tokens, or of its line
};

/// The documents of a set, in order, in bounded memory however many and however long they are.
class DocumentSource {
 public:
  using Visitor = std::function<void(const Document&)>;
  using PieceVisitor = std::function<void(std::span<const std::byte>)>;

  DocumentSource() = default;
  DocumentSource(const DocumentSource&) = delete;
  DocumentSource& operator=(const DocumentSource&) = delete;
  virtual ~DocumentSource() = default;

  /// One pass over all documents.  @throws [DATA-05], [DATA-06], [DATA-09], [FILE-NN]
  virtual void for_each(const Visitor& visit) = 0;
  /// A further pass over a set that has been measured.
  /// @throws [DATA-09] if it has another number of documents now; as for_each()
  void for_each_again(const SetSize& size, const Visitor& visit);
  /// The bytes of the document that is being visited, in order.
  virtual void read(const PieceVisitor& visit) = 0;
  /// About how many bytes all documents have.
  virtual std::uint64_t n_bytes() const = 0;
  virtual const std::string& path() const = 0;

  /// Appends the document that is being visited to `sink`.
  void copy_to(DocumentSink& sink);
};

/// The names of JSON Lines files, as messages say them.
inline constexpr std::string_view json_lines_names = ".jsonl, .ndjson, .json (a record on each line)";
bool is_json_lines_name(const std::string& path);

/// What kind of set a file is, by its name.
enum class SetKind {
  packed,      ///< .pbin: a document is a span of its index, in bytes of tokens
  json_lines,  ///< .jsonl, .ndjson, .json: a document is a line, in bytes without its newline
};
/// @throws [DATA-40] for a name that ends in none of these
SetKind set_kind(const std::string& path);

/// @throws [DATA-40]; [DATA-06], [FILE-NN]
std::unique_ptr<DocumentSource> open_set(const std::string& path);

/// A set to be written, of the kind of `input` and with its token width.  @throws as open_set() and AtomicFile do
std::unique_ptr<DocumentSink> create_set_like(const std::string& input, const std::string& path);

/// Counts documents and their bytes, in one pass over the set.
SetSize measure(DocumentSource& source, WorkCounter& counter);

}  // namespace monomorph::data
