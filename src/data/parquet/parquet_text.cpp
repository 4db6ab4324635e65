#include "data/parquet/parquet_text.hpp"

#include "data/parquet/capped_memory.hpp"
#include "data/parquet/row_text.hpp"
#include "data/records/compressed_bytes.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/work/interruption.hpp>

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data {
namespace {

/// What Arrow reads of a column chunk at a time; without it, it reads all of it.
constexpr std::int64_t stream_bytes = std::int64_t{256} << 10;
/// Rows are decoded by so many as have about so many bytes. A row may be far longer than the others.
constexpr std::int64_t usual_batch_bytes = std::int64_t{1} << 20, most_batch_rows = 512;
/// A page has a megabyte as most programs write it, and must be in memory as a whole, compressed and decompressed.
constexpr std::int64_t most_memory = std::int64_t{1} << 30;

/// Calls Arrow, and makes an Error of what it says.
class ArrowCalls {
 public:
  explicit ArrowCalls(const std::string& path) : path_(path) {}

  /// @param call returns a Status or a Result
  template <class Call> auto operator()(Call call) const {
    try {
      auto outcome = call();
      if (!outcome.ok()) fail(status_of(outcome));
      if constexpr (requires { outcome.MoveValueUnsafe(); }) return outcome.MoveValueUnsafe();
    } catch (const parquet::ParquetStatusException& exception) {
      fail(exception.status());
    } catch (const parquet::ParquetException& exception) {
      fail(arrow::Status::IOError(exception.what()));
    }
  }
  [[noreturn]] void throw_damaged(std::string_view why) const {
    throw Error("DATA-70", fmt::format("{} is damaged or no Parquet file: {}; copy or write it again", in_quotes(path_),
                                       why.substr(0, why.find('\n'))));
  }

 private:
  static const arrow::Status& status_of(const arrow::Status& status) { return status; }
  template <class Value> static const arrow::Status& status_of(const arrow::Result<Value>& result) {
    return result.status();
  }
  [[noreturn]] void fail(const arrow::Status& status) const {
    if (status.IsOutOfMemory())
      throw Error("DATA-78", fmt::format("reading {} takes more than {} MiB, as a page of it or a value is so large; "
                                         "write it with smaller pages",
                                         in_quotes(path_), most_memory >> 20));
    if (status.message().find("ecrypt") != std::string::npos)
      throw Error("DATA-79", in_quotes(path_) + " is encrypted; decrypt it first");
    throw_damaged(status.message());
  }

  const std::string& path_;
};

/// The leaves of a field in the file, which Arrow reads it from.
void add_leaves(const parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
  if (field.column_index >= 0) leaves.push_back(field.column_index);
  for (const parquet::arrow::SchemaField& child : field.children) add_leaves(child, leaves);
}

class ParquetText final : public TextSource {
 public:
  ParquetText(const std::string& path, const Columns& columns) : path_(path), reader_(open()) {
    arrow_([&] { return choose_columns(columns); });
  }

  std::size_t read_some(char* to, std::size_t n_bytes) override {
    if (n_given_ == text_.size()) {
      text_.clear();
      n_given_ = 0;
      arrow_([&] { return add_rows(n_bytes); });
      n_text_ += text_.size();
      refuse_bomb(path_, static_cast<std::uint64_t>(n_file_bytes_), n_text_);
    }
    const std::size_t n = std::min(n_bytes, text_.size() - n_given_);
    std::memcpy(to, text_.data() + n_given_, n);
    n_given_ += n;
    return n;
  }

 private:
  std::unique_ptr<parquet::arrow::FileReader> open() {
    parquet::ReaderProperties properties(&memory_);
    properties.enable_buffered_stream();
    properties.set_buffer_size(stream_bytes);
    properties.set_page_checksum_verification(true);
    parquet::ArrowReaderProperties rows;
    rows.set_pre_buffer(false);
    return arrow_([&]() -> arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> {
      ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path_, &memory_));
      ARROW_ASSIGN_OR_RAISE(n_file_bytes_, file->GetSize());
      parquet::arrow::FileReaderBuilder builder;
      ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties));
      return builder.memory_pool(&memory_)->properties(rows)->Build();
    });
  }

  arrow::Status choose_columns(const Columns& columns) {
    for (const parquet::arrow::SchemaField& field : reader_->manifest().schema_fields) {
      const std::string& name = field.field->name();
      const bool is_asked_for = std::ranges::find(columns, name) != columns.end();
      if (!is_asked_for && !columns.empty()) continue;
      if (has_json_values(*field.field->type()))
        add_leaves(field, leaves_);
      else if (is_asked_for)
        throw UsageError("DATA-77", fmt::format("the column {} of {} has the type {}, for which JSON has no values; "
                                                "convert it, or name another",
                                                in_quotes(name), in_quotes(path_), field.field->type()->ToString()));
    }
    if (leaves_.empty()) throw_no_column(columns);
    return arrow::Status::OK();
  }

  [[noreturn]] void throw_no_column(const Columns& columns) const {
    std::vector<std::string> names;
    for (const parquet::arrow::SchemaField& field : reader_->manifest().schema_fields)
      names.push_back(in_quotes(field.field->name()));
    if (columns.empty() || names.empty())
      throw UsageError("DATA-77", in_quotes(path_) + " has no column for which JSON has values; give another file");
    throw UsageError("DATA-77", fmt::format("{} has no column {}; name one of {} with --field", in_quotes(path_),
                                            in_quotes(columns.front()), fmt::join(names, ", ")));
  }

  arrow::Status add_rows(std::size_t n_bytes) {
    while (text_.size() < n_bytes && (row_ < n_rows_ || next_batch())) add_row();
    return arrow::Status::OK();
  }

  void add_row() {
    bool is_first = true;
    text_ += '{';
    for (std::size_t i = 0; i < values_.size(); ++i) append_member(names_[i], *values_[i], row_, is_first, text_);
    text_ += "}\n";
    ++row_;
  }

  bool next_batch() {
    while (true) {
      throw_if_interrupted();
      if (!batches_ && !next_row_group()) return false;
      if (const auto batch = arrow_([&] { return batches_->Next(); })) {
        take(*batch);
        if (n_rows_ > 0) return true;
      } else {
        if (n_rows_left_ != 0) arrow_.throw_damaged("a group of rows has not as many as it says");
        batches_ = nullptr;
      }
    }
  }

  bool next_row_group() {
    if (row_group_ == reader_->num_row_groups()) return false;
    const auto group = reader_->parquet_reader()->metadata()->RowGroup(row_group_);
    n_rows_left_ = group->num_rows();
    if (n_rows_left_ < 0) arrow_.throw_damaged("a group of rows has fewer than none");
    reader_->set_batch_size(batch_rows(*group));
    batches_ = arrow_([&] { return reader_->GetRecordBatchReader({row_group_}, leaves_); });
    ++row_group_;
    return true;
  }

  std::int64_t batch_rows(const parquet::RowGroupMetaData& group) const {
    double n_bytes = 1;
    for (const int leaf : leaves_)
      n_bytes += static_cast<double>(std::max<std::int64_t>(0, group.ColumnChunk(leaf)->total_uncompressed_size()));
    const double row_bytes = n_bytes / static_cast<double>(std::max<std::int64_t>(1, group.num_rows()));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(usual_batch_bytes) / row_bytes), 1,
                                    most_batch_rows);
  }

  void take(const arrow::RecordBatch& batch) {
    // Values that contradict each other are found before anybody goes where they point.
    arrow_([&] { return batch.Validate(); });
    values_ = batch.columns();
    names_ = batch.schema()->field_names();
    row_ = 0;
    n_rows_ = batch.num_rows();
    n_rows_left_ -= n_rows_;
  }

  std::string path_;
  ArrowCalls arrow_{path_};
  CappedMemory memory_{most_memory};
  std::int64_t n_file_bytes_ = 0;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::vector<int> leaves_;
  int row_group_ = 0;                                  ///< the next one
  std::unique_ptr<arrow::RecordBatchReader> batches_;  ///< of the one before; nothing: it is through
  std::int64_t n_rows_left_ = 0;                       ///< of that
  std::vector<std::shared_ptr<arrow::Array>> values_;
  std::vector<std::string> names_;
  std::int64_t row_ = 0, n_rows_ = 0;  ///< of values_
  std::string text_;
  std::size_t n_given_ = 0;   ///< of text_
  std::uint64_t n_text_ = 0;  ///< so far
};

}  // namespace

std::unique_ptr<TextSource> open_parquet_text(const std::string& path, const Columns& columns) {
  return std::make_unique<ParquetText>(path, columns);
}

}  // namespace monomorph::data
