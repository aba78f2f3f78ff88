// Reads the part of a workload that describes a load on an InnoDB-like server.
#pragma once

#include "traces/mysql/mysql_mix.h"
#include "traces/workload/swept_map.h"

namespace filereel {

// Throws Error(unusable_input).
MysqlMixOptions read_mysql(const YamlValue& value, Sweep& sweep);

}  // namespace filereel
