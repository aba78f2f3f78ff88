// Describes the machine that runs are measured on.
#pragma once

#include "replay/results/result.h"

namespace filereel {

HostInfo describe_host();

}  // namespace filereel
