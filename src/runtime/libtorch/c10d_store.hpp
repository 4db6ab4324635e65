#pragma once
#include "runtime/machine/libtorch.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace monomorph::libtorch {

class C10dStore final : public Store {
 public:
  explicit C10dStore(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}
  void set(const std::string& key, const std::string& value) override { store_->set(key, value); }
  std::string get(const std::string& key, std::chrono::milliseconds time_limit) override {
    store_->wait({key}, time_limit);
    return store_->get_to_str(key);
  }
  void remove(const std::string& key) override { store_->deleteKey(key); }
  bool has(const std::string& key) override { return store_->check({key}); }

  /// All stores that the library has made are of this class.
  static const c10::intrusive_ptr<c10d::Store>& of(const Store& store) {
    return static_cast<const C10dStore&>(store).store_;
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace monomorph::libtorch
