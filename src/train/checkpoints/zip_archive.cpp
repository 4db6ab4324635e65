#include "zip_archive.hpp"

#include "crc32.hpp"

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <stdexcept>

// The format is PKWARE's APPNOTE.TXT; sections in comments are its own.

namespace monomorph::train {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint16_t version_needed = 45;       // of ZIP64
constexpr std::uint16_t flags = 1 << 3 | 1 << 11;  // sizes and checksum follow the data; names are UTF-8
constexpr std::uint16_t stored = 0;
constexpr std::uint32_t first_of_january_1980 = 0x21
                                                << 16;  // the earliest time there is: files are equal if tensors are
constexpr auto most_of_32_bits = std::numeric_limits<std::uint32_t>::max();
constexpr auto most_of_16_bits = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t header_bytes = 30, extra_header_bytes = 4;
constexpr std::uint16_t zip64_extra = 1, padding_extra = 0x4246;  // "FB", by which PyTorch's own files are padded

bool needs_64_bits(std::uint64_t number) { return number >= most_of_32_bits; }

/// Little-endian numbers one after the other.
class Fields {
 public:
  template <std::unsigned_integral Number> Fields& add(Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i)
      text_ += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * i & 0xFF);
    return *this;
  }
  /// Or all ones, if the number is said elsewhere.
  Fields& add_32(std::uint64_t number) {
    return add(needs_64_bits(number) ? most_of_32_bits : static_cast<std::uint32_t>(number));
  }
  Fields& add(std::string_view text) {
    text_ += text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// An extra field of zeros after which what follows begins at a multiple of the alignment.
std::string padding(std::uint64_t begin) {
  const std::uint64_t n = (alignment - (begin + extra_header_bytes) % alignment) % alignment;
  return Fields().add(padding_extra).add(static_cast<std::uint16_t>(n)).add(std::string(n, '\0')).text();
}

}  // namespace

void ZipArchive::write(std::string_view bytes) {
  sink_(std::as_bytes(std::span(bytes)));
  n_written_ += bytes.size();
}

void ZipArchive::add(std::string_view name, std::uint64_t n_bytes,
                     const std::function<void(const runtime::ByteSink&)>& give) {
  Record record{std::string(name), n_bytes, n_written_};
  write_header(record);
  Crc32 crc;
  const std::uint64_t begin = n_written_;
  give([&](std::span<const std::byte> bytes) {
    crc.update(bytes);
    sink_(bytes);
    n_written_ += bytes.size();
  });
  if (n_written_ - begin != n_bytes)
    throw std::logic_error(fmt::format("{} bytes are given of {}, which has {}", n_written_ - begin, name, n_bytes));
  record.crc = crc.value();
  write_descriptor(record);
  records_.push_back(std::move(record));
}

/// Section 4.3.7.
void ZipArchive::write_header(const Record& record) {
  const std::string extra = padding(n_written_ + header_bytes + record.name.size());
  Fields fields;
  fields.add(std::uint32_t{0x04034b50}).add(version_needed).add(flags).add(stored).add(first_of_january_1980);
  fields.add(std::uint32_t{0}).add(std::uint32_t{0}).add(std::uint32_t{0});  // the descriptor's
  fields.add(static_cast<std::uint16_t>(record.name.size())).add(static_cast<std::uint16_t>(extra.size()));
  write(fields.add(record.name).add(extra).text());
}

/// Section 4.3.9.
void ZipArchive::write_descriptor(const Record& record) {
  Fields fields;
  fields.add(std::uint32_t{0x08074b50}).add(record.crc);
  if (needs_64_bits(record.n_bytes))
    fields.add(record.n_bytes).add(record.n_bytes);
  else
    fields.add_32(record.n_bytes).add_32(record.n_bytes);
  write(fields.text());
}

/// Section 4.3.12, and 4.5.3 for what needs 64 bits.
void ZipArchive::write_directory_entry(const Record& record) {
  Fields wide;
  if (needs_64_bits(record.n_bytes)) wide.add(record.n_bytes).add(record.n_bytes);
  if (needs_64_bits(record.offset)) wide.add(record.offset);
  Fields extra;
  if (!wide.text().empty()) extra.add(zip64_extra).add(static_cast<std::uint16_t>(wide.text().size())).add(wide.text());
  Fields fields;
  fields.add(std::uint32_t{0x02014b50}).add(version_needed).add(version_needed).add(flags).add(stored);
  fields.add(first_of_january_1980).add(record.crc).add_32(record.n_bytes).add_32(record.n_bytes);
  fields.add(static_cast<std::uint16_t>(record.name.size())).add(static_cast<std::uint16_t>(extra.text().size()));
  fields.add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint32_t{0});  // no comment, disk 0
  write(fields.add_32(record.offset).add(record.name).add(extra.text()).text());
}

/// Sections 4.3.14 to 4.3.16. The wide form is always there: it may be, and so there is one way alone.
void ZipArchive::write_end(std::uint64_t directory_begin) {
  const std::uint64_t directory_bytes = n_written_ - directory_begin, end_begin = n_written_, n = records_.size();
  Fields fields;
  fields.add(std::uint32_t{0x06064b50}).add(std::uint64_t{44}).add(version_needed).add(version_needed);
  fields.add(std::uint32_t{0}).add(std::uint32_t{0}).add(n).add(n).add(directory_bytes).add(directory_begin);
  fields.add(std::uint32_t{0x07064b50}).add(std::uint32_t{0}).add(end_begin).add(std::uint32_t{1});
  const auto few = static_cast<std::uint16_t>(n < most_of_16_bits ? n : most_of_16_bits);
  fields.add(std::uint32_t{0x06054b50}).add(std::uint16_t{0}).add(std::uint16_t{0}).add(few).add(few);
  write(fields.add_32(directory_bytes).add_32(directory_begin).add(std::uint16_t{0}).text());
}

void ZipArchive::finish() {
  const std::uint64_t begin = n_written_;
  for (const Record& record : records_) write_directory_entry(record);
  write_end(begin);
}

}  // namespace monomorph::train
