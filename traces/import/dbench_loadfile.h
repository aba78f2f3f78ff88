// dbench's load files: the effect of each line in its file system backend (docs/import.md).
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& dbench_importer();

}  // namespace filereel
