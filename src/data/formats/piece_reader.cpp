#include "data/formats/piece_reader.hpp"

#include <algorithm>

namespace monomorph::data {

void PieceReader::read(std::uint64_t offset, std::uint64_t length, const DocumentSource::PieceVisitor& visit) {
  constexpr std::uint64_t most_resident_bytes = std::uint64_t{32} << 20;
  constexpr std::uint64_t page_bytes = 4096;
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t n_bytes = std::min(length - done, piece_bytes);
    visit(bytes_.subspan(offset + done, n_bytes));
    done += n_bytes;
    n_resident_ += n_bytes + page_bytes;
    if (n_resident_ < most_resident_bytes) continue;
    release_();
    n_resident_ = 0;
  }
}

}  // namespace monomorph::data
