#include "traces/record/bpf_other_changes.h"

#include <string>
#include <string_view>

#include <boost/filesystem/path.hpp>

#include "traces/record/bpf_event_view.h"

namespace filereel {
namespace {

// Empty: unknown.
std::string changed_path(const BpfEventView& event, std::size_t which) {
  const BpfEventView::Part& text = event.string(which);
  if (text.cut) return {};
  const std::string_view given = text.there ? text.bytes : std::string_view();
  if (given.starts_with('/')) return std::string(given);
  std::string base = real_path(event.real(which));
  if (base.ends_with(kRemovedMark)) base.pop_back();
  if (base.empty() || given.empty()) return base;
  return base + '/' + std::string(given);
}

}  // namespace

bool add_other_changes(std::span<const std::byte> bytes, OtherChanges& to) {
  BpfEventView event;
  if (!event.read(bytes) || event.head().kind != EVENT_OTHER) return false;
  const bpf_event& head = event.head();
  const std::string_view name(reinterpret_cast<const char*>(head.arguments),
                              2 * sizeof(head.arguments[0]));
  for (std::size_t which = 0; which < 2; ++which) {
    boost::filesystem::path path =
        boost::filesystem::path(changed_path(event, which)).lexically_normal();
    if (path.filename_is_dot()) path.remove_filename();  // it ended with a slash
    OtherChange change{.path = path.remove_trailing_separator().string(),
                       .program = std::string(name.substr(0, name.find('\0'))),
                       .process = head.process,
                       .at_ns = head.end_ns};
    if (change.path.empty()) continue;
    if (event.identity()) {
      const SeenStat seen = seen_stat(*event.identity());
      change.device = seen.device;
      change.inode = seen.inode;
    }
    to.add(std::move(change));
  }
  return true;
}

}  // namespace filereel
