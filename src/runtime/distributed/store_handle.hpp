#pragma once
#include "runtime/distributed/store.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

struct monomorph::distributed::Store::Handle {
  c10::intrusive_ptr<c10d::Store> store;
};
