#pragma once
#include "data/work/spill_file.hpp"

#include <monomorph/data/formats/document_sink.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// Puts documents in the order of their keys in bounded memory: what does not fit is laid into files by ranges of keys,
/// each range small enough to be sorted in memory or laid apart again. The order does not depend on the bound.
class DocumentSorter {
 public:
  /// The documents that are sorted in one go.
  struct Keys {
    std::uint64_t begin, end;  ///< every key is in [begin, end), and no two are equal
  };
  struct Limits {
    std::uint64_t memory_bytes;  ///< of documents; a few tens of MB of buffers come on top
    std::string beside;          ///< a path in the folder for what does not fit
    /// Ranges of keys that it is laid into at once, each an open file. A range that is laid apart again gets half as
    /// many, and so on, so that all together have less than twice as many open.
    std::uint64_t most_buckets = most_buckets_of_process();
  };
  /// A quarter of the files that the process may have open, and no more than are of use.
  static std::uint64_t most_buckets_of_process();

  /// @param expected_bytes of all documents; a wrong guess costs time and nothing else
  DocumentSorter(Keys keys, std::uint64_t expected_bytes, Limits limits);
  ~DocumentSorter();

  /// Begins a document of `n_bytes`, which write() then gives in any number of pieces.
  void begin(std::uint64_t key, std::uint64_t n_bytes);
  void write(std::span<const std::byte> bytes);

  /// Called before each document with its key; says where it is to go.
  using SinkOf = std::function<DocumentSink&(std::uint64_t key)>;
  /// Hands out all documents by rising key. To be called once.
  void drain(const SinkOf& sink_of, WorkCounter& counter);

 private:
  struct Bucket {
    Keys keys;
    std::unique_ptr<SpillFile> file;
    std::uint64_t n_documents = 0, n_bytes = 0;
  };

  Bucket& bucket_of(std::uint64_t key);
  void drain_bucket(Bucket& bucket, const SinkOf& sink_of, WorkCounter& counter);

  Limits limits_;
  std::vector<Bucket> buckets_;
  Bucket* current_ = nullptr;
};

}  // namespace monomorph::data
