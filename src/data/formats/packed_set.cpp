#include "data/formats/packed_set.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::data {

void PackedSet::for_each(const Visitor& visit) {
  std::int64_t number = 0;
  std::uint64_t end = 0;
  const auto check_place = [&](std::uint64_t begin) {
    if (begin == end) return;
    throw Error("DATA-06", fmt::format("{}: its documents lie apart or overlap before document {}, at byte {} of its "
                                       "tokens; monomorph-data verify names every such place; pack it again",
                                       in_quotes(path()), number, end));
  };
  file_.for_each_document([&](DocumentSpan span) {
    check_place(span.offset);
    end = span.offset + span.length;
    current_ = span;
    visit({number++, span.length});
  });
  check_place(file_.data().size());
  file_.check_unchanged();
}

}  // namespace monomorph::data
