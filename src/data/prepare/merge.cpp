#include "data/formats/packed_file_writer.hpp"
#include "data/formats/packed_set.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/prepare/merge.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <fmt/format.h>

namespace monomorph::data {

SetSize merge(const std::vector<std::string>& inputs, const std::string& output, const ProgressCallback& progress) {
  // Every file is looked at before anything is written.
  const std::uint32_t bytes_per_token = PackedFile(inputs.front()).bytes_per_token();
  std::uint64_t total_bytes = 0;
  for (const std::string& input : inputs) {
    const PackedFile file(input);
    refuse_loss_mask(input);
    total_bytes += file.data().size();
    if (file.bytes_per_token() == bytes_per_token) continue;
    throw UsageError("DATA-41",
                     fmt::format("{} has {} bytes per token and {} has {}; bring them to one width first with "
                                 "monomorph-data convert --token-bytes",
                                 in_quotes(inputs.front()), bytes_per_token, in_quotes(input), file.bytes_per_token()));
  }
  PackedFileWriter writer(output, bytes_per_token);
  WorkCounter counter(progress, total_bytes);
  for (const std::string& input : inputs) {
    PackedSet source(input);
    source.for_each([&](const Document& document) {
      source.copy_to(writer);
      counter.add(document.n_bytes);
    });
  }
  writer.commit();
  return {writer.n_documents(), writer.n_bytes()};
}

}  // namespace monomorph::data
