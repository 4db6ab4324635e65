#include "runtime/distributed/free_descriptors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/error_of.hpp"

using monomorph::distributed::check_free_descriptors;
using monomorph::testing::error_of;

namespace {

/// Of this process, while it lives.
class Limit {
 public:
  explicit Limit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{limit, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  Limit(const Limit&) = delete;
  ~Limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a process that can open too little is told how much it takes, holes between open files included") {
  const int first = ::open("/dev/null", O_RDONLY), hole = ::open("/dev/null", O_RDONLY),
            last = ::open("/dev/null", O_RDONLY);
  REQUIRE(last > hole);
  const auto limit = static_cast<rlim_t>(last) + 5;
  {
    ::close(hole);
    const Limit lowered(limit);
    int free = 0;
    while (error_of([&] { check_free_descriptors(free + 1); }) == "(no error)") ++free;
    CHECK(free >= 1);  // the hole: what else is open is the business of whoever started the test
    CHECK(error_of([&] { check_free_descriptors(free + 3); }) ==
          fmt::format("[RANK-23] this process must be able to open {} more files and connections, and its limit of {} "
                      "leaves {}; raise the limit (ulimit -n {})",
                      free + 3, limit, free, limit + 3));
    std::vector<int> opened;
    while ((opened.push_back(::open("/dev/null", O_RDONLY)), opened.back() >= 0)) continue;
    for (const int descriptor : opened) ::close(descriptor);  // a sanitizer opens some itself when it judges a check
    CHECK(std::ssize(opened) == free + 1);
  }
  for (const int descriptor : {first, last}) ::close(descriptor);
}
