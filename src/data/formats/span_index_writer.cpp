#include <monomorph/data/formats/span_index.hpp>

#include <utility>

// How pickle.dumps of CPython lays out `[(a, b), ...]` with protocol 4: after the header, opcodes are gathered into
// frames; a frame is closed at the first value that begins when it holds 64 KiB or more. List items come in batches of
// 1,000; a list of one item has no batch. Every list and tuple is memoised.
namespace monomorph::data {
namespace {

constexpr unsigned char op_protocol = 0x80, op_frame = 0x95, op_empty_list = ']', op_memoize = 0x94, op_mark = '(',
                        op_append = 'a', op_appends = 'e', op_tuple2 = 0x86, op_int1 = 'K', op_int2 = 'M',
                        op_int4 = 'J', op_long1 = 0x8a, op_stop = '.';
constexpr std::size_t full_frame_bytes = 64 * 1024;
constexpr std::size_t smallest_frame_bytes = 4;
constexpr std::int64_t batch_size = 1000;

}  // namespace

SpanIndexWriter::SpanIndexWriter(std::function<void(std::span<const std::byte>)> sink) : sink_(std::move(sink)) {
  const std::byte header[] = {std::byte{op_protocol}, std::byte{4}};
  sink_(header);
  put(op_empty_list);
  put(op_memoize);
}

void SpanIndexWriter::add(DocumentSpan span) {
  if (size_ == 0) {
    first_ = span;
  } else {
    if (size_ == 1) {
      put(op_mark);
      put_span(first_);
    } else if (size_ % batch_size == 0) {
      put(op_appends);
      put(op_mark);
    }
    put_span(span);
  }
  ++size_;
}

void SpanIndexWriter::finish() {
  if (size_ == 1) {
    put_span(first_);
    put(op_append);
  } else if (size_ > 1) {
    put(op_appends);
  }
  put(op_stop);
  close_frame();
}

void SpanIndexWriter::begin_value() {
  if (frame_.size() >= full_frame_bytes) close_frame();
}

void SpanIndexWriter::close_frame() {
  if (frame_.size() >= smallest_frame_bytes) {
    std::vector<std::byte> opcodes = std::exchange(frame_, {});
    put(op_frame);
    put_little_endian(opcodes.size(), 8);
    sink_(frame_);
    frame_ = std::move(opcodes);
  }
  sink_(frame_);
  frame_.clear();
}

void SpanIndexWriter::put(unsigned char byte) { frame_.push_back(std::byte{byte}); }

void SpanIndexWriter::put_little_endian(std::uint64_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) put(static_cast<unsigned char>(value >> (8 * i)));
}

void SpanIndexWriter::put_integer(std::uint64_t value) {
  begin_value();
  if (value < 0x100) {
    put(op_int1);
    put_little_endian(value, 1);
  } else if (value < 0x10000) {
    put(op_int2);
    put_little_endian(value, 2);
  } else if (value < 0x80000000u) {
    put(op_int4);
    put_little_endian(value, 4);
  } else {
    int n_bytes = 5;  // two's complement: the highest bit must stay free
    while (n_bytes < 8 && value >> (8 * n_bytes - 1) != 0) ++n_bytes;
    put(op_long1);
    put(static_cast<unsigned char>(n_bytes));
    put_little_endian(value, n_bytes);
  }
}

void SpanIndexWriter::put_span(DocumentSpan span) {
  begin_value();
  put_integer(span.offset);
  put_integer(span.length);
  put(op_tuple2);
  put(op_memoize);
}

}  // namespace monomorph::data
