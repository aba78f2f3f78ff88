#include "traces/import/strace_links.h"

#include <algorithm>
#include <unordered_set>

#include "traces/calls/call_table.h"
#include "traces/import/strace_lexer.h"
#include "traces/import/strace_reader.h"

namespace filereel {
namespace {

constexpr std::size_t kMostLinks = 100'000;

// Whether a line may show a link; a fast check.
bool may_name_a_link(std::string_view line) {
  const std::string_view before = line.substr(0, line.find('('));
  return before.find("link") != std::string_view::npos ||
         before.find("rename") != std::string_view::npos;
}

// The absolute path if known: with its '/', or as shown by -y; otherwise the last name.
std::string known_name(const std::string& path, const std::string& directory) {
  if (path.starts_with('/')) return path;
  if (directory.starts_with('/')) return directory + "/" + path;
  return path.substr(path.rfind('/') + 1);
}

// Whether the trace may have created `path` or a directory above it.
bool is_made(std::string path, const std::unordered_set<std::string>& made) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    if (made.contains(path) || made.contains(path.substr(slash + 1))) return true;
    path.resize(slash);
  }
  return false;
}

}  // namespace

std::vector<StraceLink> find_strace_links(LineReader& input, const std::stop_token& stop) {
  std::vector<StraceLink> links;
  std::unordered_set<std::string> made;  // absolute paths, or last names
  StraceReader reader;
  for (std::string_view text; input.next(text) && links.size() < kMostLinks;) {
    if (input.line() % kLinesBetweenStops == 0 && stop.stop_requested()) break;
    if (!may_name_a_link(text)) continue;
    const StraceLine line = read_strace_line(text);
    const bool begins = line.kind == StraceLine::Kind::unfinished;
    if (line.kind != StraceLine::Kind::call && !begins) continue;
    const CallRow* known = find_call(line.name);
    if (known == nullptr) continue;
    const StraceReader::Outcome outcome =
        begins ? reader.read_beginning(*known, line.text) : reader.read(*known, line.text);
    if (outcome != StraceReader::Outcome::read) continue;
    const SystemCall& call = reader.calls().front();
    if (call.call == Call::symlink) made.insert(known_name(call.path, call.dir_path));
    if (call.call == Call::rename || call.call == Call::link) {
      made.insert(known_name(call.path2, call.dir2_path));
    }
    if (call.call != Call::readlink || begins || call.result <= 0 || call.text.empty()) continue;
    std::string path = known_name(call.path, call.dir_path);
    if (!path.starts_with('/') || path.find("/..") != std::string::npos) continue;
    if (!links.empty() && links.back().path == path) continue;
    links.push_back({std::move(path), call.text});
  }
  std::erase_if(links, [&](const StraceLink& link) { return is_made(link.path, made); });
  return links;
}

}  // namespace filereel
