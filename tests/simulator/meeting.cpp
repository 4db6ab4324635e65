// The module libmonomorph_libtorch.so of ranks on simulated GPUs. They take nothing of LibTorch but the store in which
// they meet, and to load LibTorch would take each of them longer than its few steps. Here a store's texts are files of
// a folder, of which the port's number is the name, in the folder for temporary files: what starts ranks gives them a
// number that no others there have.
#include "runtime/machine/libtorch.hpp"
#include "simulator/whole_file.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace monomorph::libtorch {
namespace {

using std::chrono::milliseconds;

class FolderStore final : public Store {
 public:
  FolderStore(std::filesystem::path folder, std::string beginning)
      : folder_(std::move(folder)), beginning_(std::move(beginning)) {
    std::filesystem::create_directories(folder_);
  }
  FolderStore under(const std::string& name) const { return {folder_, beginning_ + name}; }

  void set(const std::string& key, const std::string& value) override {
    simulator::write_whole(file_of(key), std::as_bytes(std::span(value)));
  }
  std::string get(const std::string& key, milliseconds time_limit) override {
    const auto end = std::chrono::steady_clock::now() + time_limit;
    while (!has(key)) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("timed out");
      std::this_thread::sleep_for(milliseconds(1));
    }
    return testing::read_bytes(file_of(key));
  }
  void remove(const std::string& key) override { std::filesystem::remove(file_of(key)); }
  bool has(const std::string& key) override { return std::filesystem::exists(file_of(key)); }

 private:
  std::filesystem::path file_of(const std::string& key) const {
    std::string name = beginning_ + key;
    std::ranges::replace(name, '/', '|');
    return folder_ / name;
  }

  std::filesystem::path folder_;
  std::string beginning_;  ///< of each key
};

[[noreturn]] void refuse(const char* what) {
  throw std::logic_error(std::string("a rank on a simulated GPU has no LibTorch, of which it asks for ") + what);
}

class MeetingLibrary final : public Library {
 public:
  const Products& products() const override { refuse("products"); }
  std::string description() const override { refuse("a description"); }
  std::shared_ptr<Store> store_in_process() const override { refuse("a store of threads"); }
  std::shared_ptr<Store> store(const std::string&, int port, bool, milliseconds) const override {
    return std::make_shared<FolderStore>(std::filesystem::temp_directory_path() / ("meeting " + std::to_string(port)),
                                         "");
  }
  std::shared_ptr<Store> served_store(int&) const override { refuse("a store of a launcher"); }
  std::shared_ptr<Store> store_under(const std::string& name, std::shared_ptr<Store> store) const override {
    return std::make_shared<FolderStore>(static_cast<const FolderStore&>(*store).under(name));
  }
  std::unique_ptr<Connections> connect(std::shared_ptr<Store>, int, int, const Network&, milliseconds) const override {
    refuse("Gloo's connections");
  }
};

}  // namespace
}  // namespace monomorph::libtorch

extern "C" [[gnu::visibility("default")]] const monomorph::libtorch::Library* monomorph_libtorch() {
  static const monomorph::libtorch::MeetingLibrary library;
  return &library;
}
