#pragma once

namespace monomorph {

/// Which loss is made of how much more probable a sequence that was chosen became than one that was rejected.
enum class PreferenceLoss { sigmoid, squared };

}  // namespace monomorph
