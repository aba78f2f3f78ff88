// dbench's load files: what its file system backend does for each line (docs/import.md).
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& dbench_importer();

}  // namespace filereel
