#include "data/records/csv_records.hpp"

#include "data/records/decompressor.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace monomorph::data {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// What is wrong with a record.
struct Malformed {
  std::string_view what;
  std::string_view advice = "write it as RFC 4180 has it";
};

/// However empty a field is, it takes memory; nobody asks a question with so many.
constexpr std::size_t most_fields = 1024;

/// The fields of one record, line by line.
class Fields {
 public:
  /// Takes a line, and says whether the record goes on behind it.   @throws Malformed
  bool goes_on_behind(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool ends_line = i + 1 == line.size() && line[i] == '\r';  // which is CR LF; a field may hold both
      if (!ends_line || state_ == State::quoted) take(line[i]);
    }
    if (state_ != State::quoted) return false;
    fields_.back() += '\n';
    return true;
  }
  std::vector<std::string> taken() && { return std::move(fields_); }

 private:
  enum class State { begins, plain, quoted, quote_in_quoted };

  void take(char character) {
    if (state_ == State::quoted) {
      if (character == '"')
        state_ = State::quote_in_quoted;
      else
        fields_.back() += character;
    } else if (character == ',') {
      if (fields_.size() == most_fields)
        throw Malformed{"has more than 1,024 fields", "give a file whose records have fewer"};
      fields_.emplace_back();
      state_ = State::begins;
    } else if (state_ == State::begins && character == '"') {
      state_ = State::quoted;
    } else if (state_ != State::quote_in_quoted) {
      fields_.back() += character;
      state_ = State::plain;
    } else if (character == '"') {
      fields_.back() += character;
      state_ = State::quoted;
    } else {
      throw Malformed{"has something else than a comma behind a closing quotation mark"};
    }
  }

  std::vector<std::string> fields_{1};
  State state_ = State::begins;
};

bool is_empty(std::string_view line) { return line.empty() || line == "\r"; }

}  // namespace

bool is_csv_name(std::string_view path) { return uncompressed_name(path).ends_with(".csv"); }

std::optional<CsvRecord> CsvRecords::next() {
  auto line = lines_.next();
  while (line && is_empty(line->text)) line = lines_.next();
  if (!line) return std::nullopt;
  const std::int64_t begin = line->number;
  if (begin == 1 && line->text.starts_with(byte_order_mark)) line->text.remove_prefix(byte_order_mark.size());
  try {
    Fields fields;
    // A newline counts, too, as a record may have any number of empty lines.
    for (std::size_t n_bytes = line->text.size() + 1; fields.goes_on_behind(line->text);
         n_bytes += line->text.size() + 1) {
      if (n_bytes > LineBuffer::most_line_bytes) throw Malformed{"goes on within quotation marks for 64 MiB"};
      line = lines_.next();
      if (!line) throw Malformed{"ends within quotation marks"};
    }
    return CsvRecord{begin, std::move(fields).taken()};
  } catch (const Malformed& wrong) {
    throw UsageError("DATA-80", fmt::format("the record at line {} of {} {}; {}", begin, in_quotes(lines_.path()),
                                            wrong.what, wrong.advice));
  }
}

}  // namespace monomorph::data
