#include "data/prepare/document_sorter.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/loading/sample_order.hpp>
#include <monomorph/data/prepare/shuffle.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

/// Which places of the shuffled order make up a chunk.
class ChunkRanges {
 public:
  ChunkRanges(std::int64_t n_documents, std::int64_t n_chunks) : n_documents_(n_documents), n_chunks_(n_chunks) {}

  /// The first place of chunk `index`, counted from 0: the first n_documents % n_chunks chunks have one more.
  std::int64_t begin(std::int64_t index) const {
    return index * (n_documents_ / n_chunks_) + std::min(index, n_documents_ % n_chunks_);
  }
  std::int64_t chunk_of(std::int64_t place) const {
    const std::int64_t size = n_documents_ / n_chunks_, n_longer = n_documents_ % n_chunks_;
    if (place < n_longer * (size + 1)) return place / (size + 1);
    return n_longer + (place - n_longer * (size + 1)) / size;
  }

 private:
  std::int64_t n_documents_, n_chunks_;
};

void check_numbers(const std::vector<Chunk>& chunks, std::int64_t n_chunks) {
  for (const Chunk& chunk : chunks) {
    if (chunk.number >= 1 && chunk.number <= n_chunks) continue;
    throw UsageError("DATA-42", fmt::format("there is no chunk {0} of {1}; chunks are counted from 1 to {1}",
                                            chunk.number, n_chunks));
  }
}

void check_enough(const std::string& input, std::int64_t n_chunks, std::int64_t n_documents) {
  if (n_documents < n_chunks) {
    throw UsageError("DATA-42", fmt::format("{} has {} documents, too few for {} chunks; ask for fewer chunks",
                                            in_quotes(input), n_documents, n_chunks));
  }
}

/// Writes chunks one after the other, each from the first document that falls into it.
class ChunkWriter {
 public:
  ChunkWriter(const std::string& input, const std::vector<Chunk>& chunks, ChunkRanges ranges, std::int64_t n_chunks)
      : input_(input), chunks_(chunks), ranges_(ranges), slots_(static_cast<std::size_t>(n_chunks), not_wanted) {
    for (std::size_t slot = 0; slot < chunks.size(); ++slot) {
      slots_[static_cast<std::size_t>(chunks[slot].number - 1)] = static_cast<std::ptrdiff_t>(slot);
    }
    sinks_.resize(chunks.size());
  }

  bool wants(std::int64_t place) const { return slot_of(place) != not_wanted; }

  DocumentSink& sink_of(std::int64_t place) {
    const auto slot = static_cast<std::size_t>(slot_of(place));
    if (sinks_[slot] == nullptr) {
      if (open_ != nullptr) open_->finish();
      sinks_[slot] = create_set_like(input_, chunks_[slot].output);
      open_ = sinks_[slot].get();
    }
    return *sinks_[slot];
  }

  /// In the order of the chunks asked for.
  std::vector<SetSize> commit() {
    commit_together(sinks_);
    std::vector<SetSize> sizes;
    for (const auto& sink : sinks_) sizes.push_back({sink->n_documents(), sink->n_bytes()});
    return sizes;
  }

 private:
  static constexpr std::ptrdiff_t not_wanted = -1;

  std::ptrdiff_t slot_of(std::int64_t place) const { return slots_[static_cast<std::size_t>(ranges_.chunk_of(place))]; }

  const std::string& input_;
  const std::vector<Chunk>& chunks_;
  ChunkRanges ranges_;
  std::vector<std::ptrdiff_t> slots_;  ///< by index of the chunk, where it is among those asked for
  std::vector<std::unique_ptr<DocumentSink>> sinks_;
  DocumentSink* open_ = nullptr;
};

}  // namespace

std::vector<SetSize> write_chunks(const std::string& input, const std::vector<Chunk>& chunks, std::int64_t n_chunks,
                                  const ShuffleSettings& settings, const ProgressCallback& progress) {
  check_numbers(chunks, n_chunks);
  const auto source = open_set(input);
  const auto share = [&](std::uint64_t n_bytes) {
    return n_bytes / static_cast<std::uint64_t>(n_chunks) * chunks.size();
  };
  // The set is read twice, and what falls into the chunks is laid in order.
  WorkCounter counter(progress, 2 * source->n_bytes() + share(source->n_bytes()));
  const SetSize size = measure(*source, counter);
  check_enough(input, n_chunks, size.n_documents);
  ChunkWriter writer(input, chunks, ChunkRanges(size.n_documents, n_chunks), n_chunks);

  // A document's key is its place in the shuffled order.
  const SampleOrder order(size.n_documents, settings.seed, true);
  DocumentSorter sorter({0, static_cast<std::uint64_t>(size.n_documents)}, share(size.n_bytes),
                        {settings.memory_bytes, chunks.front().output});
  source->for_each_again(size, [&](const Document& document) {
    const std::int64_t place = order.place(document.number).index;
    counter.add(document.n_bytes);
    if (!writer.wants(place)) return;
    sorter.begin(static_cast<std::uint64_t>(place), document.n_bytes);
    source->read([&sorter](std::span<const std::byte> piece) { sorter.write(piece); });
  });
  sorter.drain([&](std::uint64_t place) -> DocumentSink& { return writer.sink_of(static_cast<std::int64_t>(place)); },
               counter);
  return writer.commit();
}

SetSize shuffle(const std::string& input, const std::string& output, const ShuffleSettings& settings,
                const ProgressCallback& progress) {
  return write_chunks(input, {{1, output}}, 1, settings, progress).front();
}

}  // namespace monomorph::data
