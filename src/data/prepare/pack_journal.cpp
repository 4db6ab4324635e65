#include "data/prepare/pack_journal.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

// A journal is a sequence of chunks: u64 number of bytes | bytes | u64 XXH64 of these. The first holds the identity as
// JSON, each of the others an entry. It is read by the program that wrote it, so numbers are in the machine's order.
namespace monomorph::data {
namespace {

constexpr std::uint64_t most_chunk_bytes = std::uint64_t{1} << 32;
constexpr std::size_t n_numbers = 8;  // of an entry, before its texts

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string chunk_of(const std::string& content) {
  const std::uint64_t size = content.size(), hash = xxh64(bytes_of(content));
  std::string chunk(reinterpret_cast<const char*>(&size), sizeof size);
  chunk += content;
  return chunk.append(reinterpret_cast<const char*>(&hash), sizeof hash);
}

}  // namespace

void append_length(std::string& lengths, std::uint64_t length) {
  for (; length >= 0x80; length >>= 7) lengths.push_back(static_cast<char>(length | 0x80));
  lengths.push_back(static_cast<char>(length));
}

void for_each_length(const std::string& lengths, const std::function<void(std::uint64_t)>& visit) {
  std::uint64_t length = 0;
  unsigned shift = 0;
  for (const char character : lengths) {
    const auto byte = static_cast<unsigned char>(character);
    length |= std::uint64_t{byte & 0x7fu} << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    visit(length);
    length = shift = 0;
  }
}

PackJournal::PackJournal(std::string path, Mode mode)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_RDWR | O_CLOEXEC | (mode == Mode::create_new ? O_CREAT | O_EXCL : 0), 0666)) {
  if (descriptor_ < 0) throw_file_error(mode == Mode::create_new ? "create" : "open", path_, errno);
  // On a file system without locks another process is not noticed.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw Error("DATA-23", "another process is at " + in_quotes(path_) + "; let it end, or give another --output");
  }
}

PackJournal::~PackJournal() { ::close(descriptor_); }

bool PackJournal::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n_read = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) throw_file_error("read", path_, errno);
    if (n_read == 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n_read));
    offset += static_cast<std::uint64_t>(n_read);
  }
  return true;
}

void PackJournal::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n_written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) throw_file_error("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n_written));
    end_ += static_cast<std::uint64_t>(n_written);
  }
}

/// The chunk at `offset` without its frame, and moves `offset` behind it; nothing if there is no good one.
std::optional<std::string> PackJournal::read_chunk(std::uint64_t& offset) const {
  std::uint64_t size = 0, hash = 0;
  if (!read(offset, std::as_writable_bytes(std::span(&size, 1))) || size > most_chunk_bytes) return std::nullopt;
  if (!read(offset + sizeof size + size, std::as_writable_bytes(std::span(&hash, 1)))) return std::nullopt;
  std::string content(size, '\0');
  if (!read(offset + sizeof size, std::as_writable_bytes(std::span(content.data(), content.size()))))
    return std::nullopt;
  if (xxh64(bytes_of(content)) != hash) return std::nullopt;
  offset += sizeof size + size + sizeof hash;
  return content;
}

void PackJournal::write_identity(const PackIdentity& identity) {
  write(bytes_of(chunk_of(nlohmann::json(identity).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))));
  first_entry_ = end_;
}

PackIdentity PackJournal::read_identity() {
  end_ = 0;
  const auto content = read_chunk(end_);
  first_entry_ = end_;
  if (!content) return {};
  const auto identity = parsed_json(*content);
  try {
    return identity.get<PackIdentity>();
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void PackJournal::append(const JournalEntry& entry) {
  const std::array<std::uint64_t, n_numbers> numbers{entry.input_end,         entry.n_lines,
                                                     entry.n_skipped,         entry.n_documents,
                                                     entry.n_empty_documents, entry.n_token_bytes,
                                                     entry.token_hash,        entry.document_lengths.size()};
  std::string content(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
  content += entry.document_lengths;
  content += entry.report;
  write(bytes_of(chunk_of(content)));
}

void PackJournal::read_entries(const std::function<bool(const JournalEntry&)>& visit) {
  std::uint64_t end = first_entry_, next = end;
  while (const auto content = read_chunk(next)) {
    std::array<std::uint64_t, n_numbers> numbers;
    if (content->size() < sizeof numbers) break;
    std::memcpy(numbers.data(), content->data(), sizeof numbers);
    if (numbers[7] > content->size() - sizeof numbers) break;
    const JournalEntry entry{numbers[0],
                             numbers[1],
                             numbers[2],
                             numbers[3],
                             numbers[4],
                             numbers[5],
                             numbers[6],
                             content->substr(sizeof numbers, numbers[7]),
                             content->substr(sizeof numbers + numbers[7])};
    if (!visit(entry)) break;
    end = next;
  }
  end_ = end;
}

}  // namespace monomorph::data
