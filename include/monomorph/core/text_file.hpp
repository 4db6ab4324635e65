#pragma once
#include <cstddef>
#include <string>

namespace monomorph {

/// The whole of a small file (configuration, JSON); pipes work too.
/// @throws [FILE-01], [FILE-03]; [FILE-04] for a folder; [FILE-05] if there are more than `max_bytes`
std::string read_text_file(const std::string& path, std::size_t max_bytes = 64u << 20);

}  // namespace monomorph
