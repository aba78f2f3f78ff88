// Declares the exporters, for exporters().
#pragma once

#include "traces/export/exporter.h"

namespace filereel {

Exporter fio_exporter();
Exporter json_lines_exporter();
Exporter chrome_trace_exporter();

}  // namespace filereel
