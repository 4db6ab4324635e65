#include "data/prepare/document_sorter.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace monomorph::data {
namespace {

constexpr std::uint64_t least_buckets = 2, enough_buckets = 256;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// What stands before a document in a spilled bucket.
struct RecordHeader {
  std::uint64_t key, n_bytes;
};

/// What a document takes in memory beside its bytes.
struct Entry {
  std::uint64_t key, offset, n_bytes;
};

std::uint64_t scaled(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{value} * numerator / denominator);
}

/// The records of a spilled bucket, in the order in which they were written.
class RecordReader {
 public:
  explicit RecordReader(SpillFile& file) : file_(file) {}

  bool at_end() const { return position_ == file_.size(); }

  RecordHeader header() {
    std::array<std::byte, sizeof(RecordHeader)> bytes;
    take(bytes);
    RecordHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
  }

  /// Hands `n_bytes` of the record to `visit`, piece by piece.
  template <class Visit> void body(std::uint64_t n_bytes, Visit visit) {
    while (n_bytes > 0) {
      if (used_ == buffer_.size()) refill();
      const std::size_t n_now = std::min<std::uint64_t>(n_bytes, buffer_.size() - used_);
      visit(std::span<const std::byte>(buffer_).subspan(used_, n_now));
      used_ += n_now;
      position_ += n_now;
      n_bytes -= n_now;
    }
  }

 private:
  void take(std::span<std::byte> bytes) {
    std::size_t n_taken = 0;
    body(bytes.size(), [&](std::span<const std::byte> piece) {
      std::copy(piece.begin(), piece.end(), bytes.begin() + static_cast<std::ptrdiff_t>(n_taken));
      n_taken += piece.size();
    });
  }

  void refill() {
    buffer_.resize(piece_bytes);
    buffer_.resize(file_.read(position_, buffer_));
    used_ = 0;
  }

  SpillFile& file_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

/// Sorts the documents of a bucket in memory.
void drain_in_memory(RecordReader& records, std::uint64_t n_documents, std::uint64_t n_bytes,
                     const DocumentSorter::SinkOf& sink_of, WorkCounter& counter) {
  std::vector<std::byte> bytes;
  std::vector<Entry> entries;
  bytes.reserve(n_bytes);
  entries.reserve(n_documents);
  while (!records.at_end()) {
    const RecordHeader header = records.header();
    entries.push_back({header.key, bytes.size(), header.n_bytes});
    records.body(header.n_bytes, [&bytes](auto piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  for (const Entry& entry : entries) {
    DocumentSink& sink = sink_of(entry.key);
    sink.write(std::span<const std::byte>(bytes).subspan(entry.offset, entry.n_bytes));
    sink.end_document();
    counter.add(entry.n_bytes);
  }
}

/// Hands out a bucket's only document, of any length.
void drain_single(RecordReader& records, const DocumentSorter::SinkOf& sink_of, WorkCounter& counter) {
  const RecordHeader header = records.header();
  DocumentSink& sink = sink_of(header.key);
  records.body(header.n_bytes, [&](std::span<const std::byte> piece) {
    sink.write(piece);
    counter.add(piece.size());
  });
  sink.end_document();
}

}  // namespace

std::uint64_t DocumentSorter::most_buckets_of_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return enough_buckets;
  return std::clamp<std::uint64_t>(limit.rlim_cur / 4, least_buckets, enough_buckets);
}

DocumentSorter::DocumentSorter(Keys keys, std::uint64_t expected_bytes, Limits limits) : limits_(std::move(limits)) {
  const std::uint64_t n_keys = keys.end - keys.begin;
  // Buckets are half full on average, as the expected size is a guess and lengths of documents differ.
  const std::uint64_t wanted = 2 * (expected_bytes / std::max<std::uint64_t>(limits_.memory_bytes, 1) + 1);
  const std::uint64_t n_buckets = std::min({wanted, limits_.most_buckets, n_keys});
  for (std::uint64_t i = 0; i < n_buckets; ++i) {
    const Keys range{keys.begin + scaled(n_keys, i, n_buckets), keys.begin + scaled(n_keys, i + 1, n_buckets)};
    buckets_.push_back({range, std::make_unique<SpillFile>(limits_.beside)});
  }
}

DocumentSorter::~DocumentSorter() = default;

DocumentSorter::Bucket& DocumentSorter::bucket_of(std::uint64_t key) {
  const auto after =
      std::upper_bound(buckets_.begin(), buckets_.end(), key,
                       [](std::uint64_t value, const Bucket& bucket) { return value < bucket.keys.begin; });
  return *std::prev(after);
}

void DocumentSorter::begin(std::uint64_t key, std::uint64_t n_bytes) {
  current_ = &bucket_of(key);
  const RecordHeader header{key, n_bytes};
  current_->file->write(std::as_bytes(std::span(&header, 1)));
  current_->n_documents += 1;
  current_->n_bytes += n_bytes;
}

void DocumentSorter::write(std::span<const std::byte> bytes) { current_->file->write(bytes); }

void DocumentSorter::drain(const SinkOf& sink_of, WorkCounter& counter) {
  for (Bucket& bucket : buckets_) bucket.file->settle();
  for (Bucket& bucket : buckets_) {
    if (bucket.n_documents > 0) drain_bucket(bucket, sink_of, counter);
    bucket.file.reset();
  }
}

void DocumentSorter::drain_bucket(Bucket& bucket, const SinkOf& sink_of, WorkCounter& counter) {
  RecordReader records(*bucket.file);
  const std::uint64_t needed_bytes = bucket.n_bytes + bucket.n_documents * sizeof(Entry);
  if (bucket.n_documents == 1) {
    drain_single(records, sink_of, counter);
  } else if (needed_bytes <= limits_.memory_bytes) {
    drain_in_memory(records, bucket.n_documents, bucket.n_bytes, sink_of, counter);
  } else {
    Limits limits = limits_;
    limits.most_buckets = std::max(limits.most_buckets / 2, least_buckets);
    DocumentSorter parts(bucket.keys, needed_bytes, std::move(limits));
    while (!records.at_end()) {
      const RecordHeader header = records.header();
      parts.begin(header.key, header.n_bytes);
      records.body(header.n_bytes, [&parts](std::span<const std::byte> piece) { parts.write(piece); });
    }
    bucket.file.reset();
    parts.drain(sink_of, counter);
  }
}

}  // namespace monomorph::data
