#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/loading/sample_order.hpp>
#include <monomorph/data/prepare/split.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace monomorph::data {
namespace {

/// Ranks documents by how soon they are held out: 0 is the first.
class Ranks {
 public:
  Ranks(std::int64_t n_documents, const SplitSettings& settings)
      : n_documents_(n_documents), tail_(settings.tail), order_(n_documents, settings.seed, true) {}

  std::int64_t rank(std::int64_t document) const {
    return tail_ ? n_documents_ - 1 - document : order_.place(document).index;
  }

 private:
  std::int64_t n_documents_;
  bool tail_;
  SampleOrder order_;
};

/// The least number of documents, by rank, that have `wanted` bytes: a pass that sums ranges of ranks, and another that
/// looks into the range where the sum is reached, so that memory stays small.
std::int64_t documents_with_bytes(DocumentSource& source, const SetSize& size, const Ranks& ranks, std::uint64_t wanted,
                                  WorkCounter& counter) {
  constexpr std::int64_t n_ranges = 1 << 16;
  const std::int64_t range_size = size.n_documents / n_ranges + 1;
  std::vector<std::uint64_t> range_bytes(n_ranges);
  source.for_each_again(size, [&](const Document& document) {
    range_bytes[static_cast<std::size_t>(ranks.rank(document.number) / range_size)] += document.n_bytes;
    counter.add(document.n_bytes);
  });
  std::uint64_t sum = 0;
  std::int64_t range = 0;
  while (range < n_ranges && sum + range_bytes[static_cast<std::size_t>(range)] < wanted) {
    sum += range_bytes[static_cast<std::size_t>(range++)];
  }
  if (range == n_ranges) return size.n_documents;
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(range_size));
  source.for_each_again(size, [&](const Document& document) {
    const std::int64_t rank = ranks.rank(document.number);
    if (rank / range_size == range) bytes[static_cast<std::size_t>(rank % range_size)] = document.n_bytes;
    counter.add(document.n_bytes);
  });
  std::int64_t n_documents = range * range_size;
  for (std::size_t i = 0; i < bytes.size() && sum < wanted; ++i, ++n_documents) sum += bytes[i];
  return n_documents;
}

std::int64_t held_out_documents(DocumentSource& source, const SetSize& size, const Ranks& ranks,
                                const HeldOutSize& wanted, WorkCounter& counter) {
  if (wanted.documents) return *wanted.documents;
  if (wanted.bytes) return documents_with_bytes(source, size, ranks, *wanted.bytes, counter);
  const double n_documents = std::round(wanted.fraction.value_or(0) * static_cast<double>(size.n_documents));
  return std::max<std::int64_t>(static_cast<std::int64_t>(n_documents), 1);
}

void check_size(const HeldOutSize& size) {
  if (size.fraction && !(*size.fraction > 0 && *size.fraction < 1)) {
    throw UsageError("DATA-42",
                     fmt::format("a fraction of {} cannot be held out; give one between 0 and 1, such as 0.01",
                                 *size.fraction));
  }
  if ((size.documents && *size.documents < 1) || (size.bytes && *size.bytes < 1)) {
    throw UsageError("DATA-42", "nothing would be held out; hold out at least one document");
  }
}

}  // namespace

SplitSizes split(const std::string& input, const std::string& train, const std::string& held_out,
                 const SplitSettings& settings, const ProgressCallback& progress) {
  check_size(settings.size);
  const auto source = open_set(input);
  const std::uint64_t n_passes = settings.size.bytes ? 4 : 2;
  WorkCounter counter(progress, n_passes * source->n_bytes());
  const SetSize size = measure(*source, counter);
  if (size.n_documents < 2) {
    throw UsageError("DATA-42", fmt::format("{} has {} documents, and a split needs two; take a larger set",
                                            in_quotes(input), size.n_documents));
  }
  const Ranks ranks(size.n_documents, settings);
  const std::int64_t n_held_out = held_out_documents(*source, size, ranks, settings.size, counter);
  if (n_held_out >= size.n_documents) {
    throw UsageError("DATA-42",
                     fmt::format("holding out {} of the {} documents of {} leaves none to train on; hold out "
                                 "less",
                                 n_held_out, size.n_documents, in_quotes(input)));
  }
  std::vector<std::unique_ptr<DocumentSink>> sinks;
  for (const std::string& output : {train, held_out}) sinks.push_back(create_set_like(input, output));
  source->for_each_again(size, [&](const Document& document) {
    source->copy_to(*sinks[ranks.rank(document.number) < n_held_out ? 1 : 0]);
    counter.add(document.n_bytes);
  });
  commit_together(sinks);
  return {{sinks[0]->n_documents(), sinks[0]->n_bytes()}, {sinks[1]->n_documents(), sinks[1]->n_bytes()}};
}

}  // namespace monomorph::data
