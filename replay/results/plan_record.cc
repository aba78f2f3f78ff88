#include "replay/results/plan_record.h"

#include <fmt/format.h>

#include "filesets/system/wording.h"

namespace filereel {

void WorkRecord::add(const std::vector<std::string>& lines) {
  if (does.size() > kMostLines) return;
  std::size_t bytes = 0;
  for (const std::string& line : does) bytes += line.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bytes += lines[i].size();
    if (does.size() == kMostLines || bytes > kMostBytes) {
      does.push_back(fmt::format("and {}", counted(lines.size() - i, "more line", "more lines")));
      return;
    }
    does.push_back(lines[i]);
  }
}

}  // namespace filereel
