#pragma once
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

namespace monomorph::simulator {

/// Writes a file that nobody sees before it is whole.
inline void write_whole(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::filesystem::path unfinished = path.string() + " unfinished";
  std::ofstream(unfinished, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::filesystem::rename(unfinished, path);
}

}  // namespace monomorph::simulator
