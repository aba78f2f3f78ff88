// Statistics of a file set, as text and as JSON.
#pragma once

#include <string>

#include "filesets/file_set.h"
#include "replay/json_fwd.h"
#include "tools/table.h"

namespace filereel {

std::string describe_file_set(const FileSet& set, const Bold& bold);
Json file_set_to_json(const FileSet& set);

}  // namespace filereel
