// Names for Windows file systems: whatever a name is, it can be escaped so that nothing refused is
// left in it, and that can be undone.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "replay/volumes/name_rules.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(names) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  if (name.empty() || name.size() > 255) return;
  if (name.find('/') != name.npos || name.find('\0') != name.npos) return;
  filereel::unescape_name(name);
  for (const bool ascii : {false, true}) {
    const std::string escaped = filereel::escape_name(name, ascii);
    if (filereel::unescape_name(escaped) != name) std::abort();
    if (escaped.find_first_of("<>:\"|?*\\") != escaped.npos) std::abort();
    if (escaped.back() == '.' || escaped.back() == ' ') std::abort();
    for (const char c : escaped) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7f || (ascii && byte > 0x7f)) std::abort();
    }
  }
}
