#include <monomorph/data/formats/document_sink.hpp>

namespace monomorph::data {

void commit_together(std::span<const std::unique_ptr<DocumentSink>> sinks) {
  for (const auto& sink : sinks) sink->finish();
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    try {
      sinks[i]->commit();
    } catch (...) {
      for (std::size_t committed = 0; committed < i; ++committed) sinks[committed]->withdraw();
      throw;
    }
  }
}

}  // namespace monomorph::data
