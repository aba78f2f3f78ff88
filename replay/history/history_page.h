// A history as one page (docs/guide-firmware.md): devices and firmware, trends, and the changes
// that each firmware brought.
#pragma once

#include <string>

#include "replay/history/history.h"
#include "replay/history/trend.h"

namespace filereel {

// The results with each firmware of a device are compared with those of the firmware before, as by
// `filereel history DIR compare`. Throws Error(unusable_input) if the filter leaves nothing.
std::string history_page(const HistoryDirectory& history, const TrendFilter& filter = {});

}  // namespace filereel
