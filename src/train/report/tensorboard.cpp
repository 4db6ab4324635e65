#include <monomorph/train/report/tensorboard.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <string>

namespace monomorph::train {
namespace {

// Protocol buffers, as far as scalars need them: a field is its number and wire type in one byte, then its value.
enum WireType : unsigned { varint = 0, fixed_64 = 1, length_delimited = 2, fixed_32 = 5 };

template <class Word> std::string little_endian(Word word) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes += static_cast<char>(word >> (8 * i));
  return bytes;
}

std::string encode_varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string tag_of(unsigned number, WireType type) { return {static_cast<char>(number << 3 | type)}; }

std::string integer_field(unsigned number, std::int64_t value) {
  return tag_of(number, varint) + encode_varint(static_cast<std::uint64_t>(value));
}
std::string double_field(unsigned number, double value) {
  return tag_of(number, fixed_64) + little_endian(std::bit_cast<std::uint64_t>(value));
}
std::string float_field(unsigned number, float value) {
  return tag_of(number, fixed_32) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string bytes_field(unsigned number, std::string_view bytes) {
  return tag_of(number, length_delimited) + encode_varint(bytes.size()) + std::string(bytes);
}

// Field numbers of tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.
namespace event {
constexpr unsigned wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace summary {
constexpr unsigned value = 1;
}
namespace summary_value {
constexpr unsigned tag = 1, simple_value = 2;
}
namespace session_log {
constexpr unsigned status = 1;
constexpr std::int64_t status_start = 1;
}  // namespace session_log

std::string begin_event() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return double_field(event::wall_time, now.count());
}

/// Data may contain checksums itself, so TensorFlow masks the checksums that it stores (record_writer.h).
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t mask = 0xa282ead8u;
  return std::rotr(crc32c(bytes), 15) + mask;
}

/// TFRecord: length, its checksum, the data, its checksum.
std::string frame(std::string_view data) {
  const std::string length = little_endian(static_cast<std::uint64_t>(data.size()));
  return length + little_endian(masked_crc32c(length)) + std::string(data) + little_endian(masked_crc32c(data));
}

/// TensorBoard finds files by "tfevents" and reads those of a folder in the order of their names, so the time leads.
std::string event_file_path(const std::string& directory) {
  static std::atomic<int> counter{0};
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  return fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", directory, seconds.count(), host.data(), ::getpid(),
                     counter++);
}

constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
  constexpr std::uint32_t polynomial_reflected = 0x82f63b78u;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1u ? polynomial_reflected : 0u);
    table[byte] = remainder;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t remainder = 0xffffffffu;
  for (const char byte : bytes) {
    remainder = (remainder >> 8) ^ crc32c_table[(remainder ^ static_cast<unsigned char>(byte)) & 0xffu];
  }
  return ~remainder;
}

EventWriter::EventWriter(const std::string& directory, std::optional<std::int64_t> first_step)
    : file_(event_file_path(directory), AppendFile::Mode::create_new) {
  std::string records = frame(begin_event() + bytes_field(event::file_version, "brain.Event:2"));
  if (first_step) {
    const std::string start = integer_field(session_log::status, session_log::status_start);
    records += frame(begin_event() + integer_field(event::step, *first_step) + bytes_field(event::session_log, start));
  }
  file_.append(records);
}

void EventWriter::write(std::int64_t step, std::span<const Scalar> scalars) {
  std::string values;
  for (const auto& [tag, scalar] : scalars) {
    values += bytes_field(summary::value, bytes_field(summary_value::tag, tag) +
                                              float_field(summary_value::simple_value, static_cast<float>(scalar)));
  }
  file_.append(frame(begin_event() + integer_field(event::step, step) + bytes_field(event::summary, values)));
}

}  // namespace monomorph::train
