#pragma once
#include <monomorph/data/loading/loader.hpp>

#include <string>

namespace monomorph::train {

/// By what a run's chats were packed, where the loss masks of its data name one template that is known here.
struct PackedTemplate {
  std::string jinja;  ///< it, for the run's folder; empty if that gets one from beside the tokeniser, or none is known
  std::string note;   ///< a line if the tokeniser's folder has another; else empty
};

/// A template that lies beside the tokeniser stays the run's: whoever put it there may have made it of the one by which
/// the chats were packed, with a place for tools, say.
/// @param tokenizer its file; empty if the run has none
PackedTemplate packed_template(const data::Loader& train, const std::string& tokenizer);

}  // namespace monomorph::train
