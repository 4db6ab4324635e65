#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/free_port.hpp"

using monomorph::World;
using monomorph::distributed::Store;
using monomorph::testing::error_of;
using monomorph::testing::free_port;

TEST_CASE("a rank that does not come to the rendezvous is named") {
  const World world(Store::in_process(), {0, 4, 0, 4}, "", std::chrono::milliseconds(100));
  world.set("here", "yes");
  CHECK(world.get("here", 0) == "yes");
  const std::string error = error_of([&] { world.get("config_consistency/recipe/3", 3); });
  CHECK(error.starts_with("[RANK-05] rank 3 did not come to the ranks' rendezvous within 0.1 s; see whether"));
  CHECK(error.find("config_consistency/") == std::string::npos);  // that is between us
}

TEST_CASE("a rendezvous that went with its rank is not taken for a slow rank") {
  const auto limit = std::chrono::seconds(20);
  const int port = std::stoi(free_port());
  auto server = std::make_optional(Store::tcp("127.0.0.1", port, true, limit));
  Store client = Store::tcp("127.0.0.1", port, false, limit);
  client.set("a", "b");
  server.reset();
  CHECK(error_of([&] { client.get("c", 1, limit); }).starts_with("[RANK-14]"));
}
