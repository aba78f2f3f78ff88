// fio's logs of I/O, versions 2 and 3 (docs/import.md).
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& fio_importer();

}  // namespace filereel
