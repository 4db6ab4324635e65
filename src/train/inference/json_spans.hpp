#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

// Where the values of a JSON text stand, which are handed on as they are written: a number that is read and written
// anew may become another one, or none.

/// Where the object or the list ends that `text` begins with, whatever stands in it; npos if it does not, or lies more
/// than 64 levels deep.
std::size_t end_of_json(std::string_view text);

/// The same text with 0 and white space for each number: parsers refuse those beyond fp64.
std::string with_zeros(std::string_view json);

/// Whether it is one value and nothing else, with numbers of any size.
bool is_json(std::string_view text);

/// The last member of this name.   @param object that is_json(), as are the values of both
std::optional<std::string_view> member_of(std::string_view object, std::string_view name);
std::vector<std::string_view> items_of(std::string_view list);

}  // namespace monomorph::train
