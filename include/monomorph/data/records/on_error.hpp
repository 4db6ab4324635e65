#pragma once

namespace monomorph::data {

/// What happens at a line that is no document: an error, or it is left out, counted and listed in a report.
enum class OnError { stop, skip };

}  // namespace monomorph::data
