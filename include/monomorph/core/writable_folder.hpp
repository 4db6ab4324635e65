#pragma once
#include <optional>
#include <string>

namespace monomorph {

/// Why files can't be written into a folder, which need not be there yet; absent if they can. Tried by creating it and
/// a file in it, as nothing else tells for certain; what was created is removed again.
std::optional<std::string> why_not_writable(const std::string& folder);

}  // namespace monomorph
