#include "traces/import/strace_importer.h"

#include "traces/calls/harmless_calls.h"
#include "traces/import/strace_import.h"
#include "traces/import/strace_lexer.h"

namespace filereel {
namespace {

// Looks for a line like "openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3" among the first ones.
bool recognises_strace(std::string_view beginning) {
  constexpr int kLines = 20;
  for (int i = 0; i < kLines && !beginning.empty(); ++i) {
    const std::size_t end = beginning.find('\n');
    const StraceLine line = read_strace_line(beginning.substr(0, end));
    if (end != std::string_view::npos && !is_system_call(line.name)) {
      beginning.remove_prefix(end + 1);
      continue;
    }
    if (!is_system_call(line.name)) break;
    if (line.kind == StraceLine::Kind::resumed) return true;
    if (line.kind == StraceLine::Kind::unfinished) return true;
    if (line.kind == StraceLine::Kind::call && StraceArguments().split(line.text)) return true;
    if (end == std::string_view::npos) break;
    beginning.remove_prefix(end + 1);
  }
  return false;
}

bool read_strace(LineReader& input, TraceBuilder& builder, const ImportOptions& options) {
  return StraceImport(input, builder, options).run();
}

}  // namespace

const Importer& strace_importer() {
  static constexpr Importer kImporter{
      .name = "strace",
      .description = "strace output, best with -f -ttt -T -y",
      .timed = true,
      .time_unit_ns = 1000,
      .recognises = recognises_strace,
      .read = read_strace,
  };
  return kImporter;
}

}  // namespace filereel
