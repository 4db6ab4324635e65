#pragma once
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/work/progress.hpp>

#include <string>
#include <vector>

namespace monomorph::data {

/// Writes the documents of several packed files, in order, into one.
/// @throws [DATA-41] if their tokens have different widths; [DATA-05], [DATA-06], [DATA-09], [FILE-NN]
SetSize merge(const std::vector<std::string>& inputs, const std::string& output, const ProgressCallback& progress = {});

}  // namespace monomorph::data
