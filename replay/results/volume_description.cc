#include "replay/results/volume_description.h"

#include <utility>

#include <fmt/format.h>

#include "filesets/system/wording.h"

namespace filereel {

std::string_view target_kind_name(TargetKind kind) {
  switch (kind) {
    case TargetKind::directory:
      return "directory";
    case TargetKind::image:
      return "image";
    case TargetKind::block_device:
      break;
  }
  return "block device";
}

bool is_impaired(const LayerState& state) {
  return state.state != "clean" && state.state != "dirty";  // a cache with pending writes
}

std::string state_text(const LayerState& state) {
  std::string text = fmt::format("{} is {}", state.layer, state.state);
  if (state.state == "no cache") text = state.layer + " has no cache";
  if (state.missing) {
    text += fmt::format(" ({} missing)", counted(*state.missing, "disk"));
  }
  return text;
}

}  // namespace filereel
