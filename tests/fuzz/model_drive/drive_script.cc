// Whatever a model drive's script says, it is refused in one line or decides for every operation.
#include <string_view>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/model_drive/service.h"

namespace filereel::model_drive {
namespace {

void admit_some(std::string_view text) {
  const Script script = read_script(text, "input");
  constexpr Kind kKinds[] = {Kind::read, Kind::write, Kind::flush, Kind::discard};
  ServiceQueue queue(script, 1000);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t now = 1000 + i * 1'000'000'000, length = std::uint64_t{1} << i;
    const Service service = queue.admit(kKinds[i % 4], 0, length, now);
    if (service.due_ns < now || service.due_ns < service.service_ns) __builtin_trap();
  }
}

}  // namespace
}  // namespace filereel::model_drive

FUZZ_TARGET(drive_script) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    filereel::model_drive::admit_some(text);
  } catch (const filereel::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
}
