#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/span_index.hpp>

#include <fmt/format.h>

namespace monomorph::data {
namespace {

/// Reads the one shape of pickle that an index has: a list of pairs of whole numbers. It keeps no stack: what is not in
/// its place is refused.
class SpanIndexReader {
 public:
  SpanIndexReader(std::span<const std::byte> pickle, const std::string& name) : bytes_(pickle), name_(name) {}

  using Visitor = std::function<void(DocumentSpan, std::uint64_t)>;

  void read(const Visitor& visit) {
    if (next() != 0x80) fail("it does not begin like a pickle");
    const unsigned protocol = next();
    if (protocol < 2 || protocol > 5) fail(fmt::format("its protocol is {}, not 2 to 5", protocol));
    read_list(visit);
    if (position_ != bytes_.size()) fail("something follows its end");
    if (frame_end_ != 0 && frame_end_ != position_) fail("its last frame does not end with it");
  }

 private:
  static constexpr unsigned op_empty_list = ']', op_mark = '(', op_append = 'a', op_appends = 'e', op_stop = '.',
                            op_tuple = 't', op_tuple2 = 0x86;

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error("DATA-05", fmt::format("the index of {} is damaged or no list of (offset, length): {} (byte {} of {}); "
                                       "write it again with monomorph-data",
                                       in_quotes(name_), reason, position_, bytes_.size()));
  }

  unsigned next() {
    if (position_ == bytes_.size()) fail("it ends too early");
    return std::to_integer<unsigned>(bytes_[position_++]);
  }

  std::uint64_t little_endian(unsigned n_bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < n_bytes; ++i) value |= static_cast<std::uint64_t>(next()) << (8 * i);
    return value;
  }

  /// The next opcode that means something: frames are checked, memoising is passed over as nothing is ever fetched.
  unsigned next_opcode() {
    while (true) {
      const unsigned opcode = next();
      switch (opcode) {
        case 0x95:
          begin_frame();
          break;
        case 0x94:
          break;  // memoise
        case 'q':
          little_endian(1);
          break;  // memoise under a short or long number (protocols 2 and 3)
        case 'r':
          little_endian(4);
          break;
        default:
          return opcode;
      }
    }
  }

  void begin_frame() {
    if (frame_end_ != 0 && position_ - 1 != frame_end_) fail("a frame begins before the one before it has ended");
    const std::uint64_t n_bytes = little_endian(8);
    if (n_bytes == 0 || n_bytes > bytes_.size() - position_) fail("a frame is longer than what is left");
    frame_end_ = position_ + n_bytes;
  }

  void read_list(const Visitor& visit) {
    if (const unsigned opcode = next_opcode(); opcode != op_empty_list) fail_opcode(opcode);
    while (true) {
      const unsigned opcode = next_opcode();
      if (opcode == op_stop) return;
      if (opcode == op_mark) {
        read_batch(visit);
      } else {
        visit(read_span(opcode), position_);
        if (const unsigned end = next_opcode(); end != op_append) fail_opcode(end);
      }
    }
  }

  void read_batch(const Visitor& visit) {
    for (unsigned opcode = next_opcode(); opcode != op_appends; opcode = next_opcode()) {
      visit(read_span(opcode), position_);
    }
  }

  DocumentSpan read_span(unsigned opcode) {
    const bool marked = opcode == op_mark;
    DocumentSpan span{};
    span.offset = read_integer(marked ? next_opcode() : opcode);
    span.length = read_integer(next_opcode());
    if (const unsigned end = next_opcode(); end != (marked ? op_tuple : op_tuple2)) fail_opcode(end);
    return span;
  }

  std::uint64_t read_integer(unsigned opcode) {
    switch (opcode) {
      case 'K':
        return little_endian(1);
      case 'M':
        return little_endian(2);
      case 'J':
        return not_negative(little_endian(4), 4);
      case 0x8a: {
        const unsigned n_bytes = next();
        if (n_bytes > 8) fail("a number is too large");
        return not_negative(little_endian(n_bytes), n_bytes);
      }
      default:
        fail_opcode(opcode);
    }
  }

  std::uint64_t not_negative(std::uint64_t value, unsigned n_bytes) const {
    if (n_bytes > 0 && value >> (8 * n_bytes - 1) != 0) fail("a number is negative");
    return value;
  }

  [[noreturn]] void fail_opcode(unsigned opcode) const {
    fail(fmt::format("the opcode 0x{:02x} has no place there, and nothing but lists, tuples and whole numbers is read",
                     opcode));
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t position_ = 0;
  std::size_t frame_end_ = 0;  ///< 0 before the first frame
};

}  // namespace

void for_each_span(std::span<const std::byte> pickle, const std::string& name,
                   const std::function<void(DocumentSpan, std::uint64_t)>& visit) {
  SpanIndexReader(pickle, name).read(visit);
}

void for_each_span(std::span<const std::byte> pickle, const std::string& name,
                   const std::function<void(DocumentSpan)>& visit) {
  for_each_span(pickle, name, [&visit](DocumentSpan span, std::uint64_t) { visit(span); });
}

std::vector<DocumentSpan> read_span_index(std::span<const std::byte> pickle, const std::string& name) {
  std::vector<DocumentSpan> spans;
  for_each_span(pickle, name, [&spans](DocumentSpan span) { spans.push_back(span); });
  return spans;
}

}  // namespace monomorph::data
