// What strace writes (man 1 strace): with or without -f, -t and its kin, -r, -T, -y, -s, -v, -x.
#pragma once

#include "traces/import/importer.h"

namespace filereel {

const Importer& strace_importer();

}  // namespace filereel
