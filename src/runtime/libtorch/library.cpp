#include "runtime/libtorch/c10d_store.hpp"
#include "runtime/libtorch/connections.hpp"
#include "runtime/libtorch/products.hpp"
#include "runtime/libtorch/quiet_c10d.hpp"

#include <ATen/Version.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace monomorph::libtorch {
namespace {

class LoadedLibrary final : public Library {
 public:
  LoadedLibrary() { quiet_c10d(); }
  const Products& products() const override { return exported_products(); }
  std::string description() const override { return at::show_config(); }

  std::shared_ptr<Store> store_in_process() const override {
    return std::make_shared<C10dStore>(c10::make_intrusive<c10d::HashStore>());
  }
  std::shared_ptr<Store> store(const std::string& host, int port, bool serves,
                               std::chrono::milliseconds time_limit) const override {
    c10d::TCPStoreOptions options = unawaited(serves);
    options.port = static_cast<std::uint16_t>(port);
    options.timeout = time_limit;
    return std::make_shared<C10dStore>(c10::make_intrusive<c10d::TCPStore>(host, options));
  }
  std::shared_ptr<Store> served_store(int& port) const override {
    auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", unawaited(true));
    port = store->getPort();
    return std::make_shared<C10dStore>(std::move(store));
  }
  std::shared_ptr<Store> store_under(const std::string& name, std::shared_ptr<Store> store) const override {
    return std::make_shared<C10dStore>(c10::make_intrusive<c10d::PrefixStore>(name, C10dStore::of(*store)));
  }

  std::unique_ptr<Connections> connect(std::shared_ptr<Store> store, int rank, int size, const Network& network,
                                       std::chrono::milliseconds time_limit) const override {
    return connect_by_gloo(*store, rank, size, network, time_limit);
  }

 private:
  /// Of a store that is there before all ranks have come, on any free port unless one is given.
  static c10d::TCPStoreOptions unawaited(bool serves) {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = serves;
    options.waitWorkers = false;
    return options;
  }
};

}  // namespace
}  // namespace monomorph::libtorch

extern "C" [[gnu::visibility("default")]] const monomorph::libtorch::Library* monomorph_libtorch() {
  static const monomorph::libtorch::LoadedLibrary library;
  return &library;
}
