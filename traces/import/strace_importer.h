// Imports the output of strace (man 1 strace): with or without -f, -t, -tt, -ttt, -r, -T, -y, -s,
// -v, -x.
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& strace_importer();

}  // namespace filereel
