// I/O Riot's capture files (docs/import.md).
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& io_riot_importer();

}  // namespace filereel
