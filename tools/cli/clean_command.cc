// filereel clean: removes leftovers of killed runs.
#include "tools/cli/clean_command.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/ownership/leftovers.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "tools/cli/commands.h"

namespace filereel {
namespace {

std::string_view state_name(LeaseState state) {
  switch (state) {
    case LeaseState::in_use:
      return "in use";
    case LeaseState::kept:
      return "kept";
    case LeaseState::left:
      return "left";
    case LeaseState::removed:
      return "removed";
    case LeaseState::gone:
      return "gone";
    case LeaseState::changed:
      return "changed";
    case LeaseState::unseen:
      return "offline";
    case LeaseState::hung:
      break;
  }
  return "hung";
}

std::string line_of(const ListedLease& lease) {
  return fmt::format("{:<9}  {:<14}  {}{}\n", state_name(lease.state),
                     lease_kind_name(lease.note.kind), printable_line(lease.note.path),
                     lease.why.empty() ? "" : ": " + printable_line(lease.why));
}

void clean(bool only_list, Session& session) {
  const std::vector<ListedLease> list = only_list ? list_leases() : remove_leftovers();
  std::string text;
  for (const ListedLease& lease : list) text += line_of(lease);
  session.print(text.empty() ? only_list ? "nothing\n" : "nothing to remove\n" : text);
  if (!only_list &&
      std::ranges::any_of(list, [](const ListedLease& one) { return !one.why.empty(); })) {
    session.exit_code = static_cast<int>(ErrorKind::failed);
  }
}

}  // namespace

void clear_leftovers(const Session& session) {
  std::vector<ListedLease> list;
  try {
    list = remove_leftovers();
  } catch (const Error&) {
    return;  // the leases are unreadable; a command that needs one reports it
  }
  std::set<std::string> hung;
  for (const ListedLease& lease : list) {
    if (!lease.share.empty()) {
      hung.insert(lease.share);
      continue;
    }
    const bool is_mount_point = lease.note.kind == LeaseKind::mount_point;
    if (is_mount_point && lease.why.empty()) continue;  // invisible outside filereel
    const std::string path = printable_line(lease.note.path);
    if (!lease.why.empty()) {
      session.notice(fmt::format("leftover of a killed run: {}: {}", path, lease.why));
    } else if (lease.state == LeaseState::removed) {
      session.notice(fmt::format("removed a leftover of a killed run: {}", path));
    } else if (lease.state == LeaseState::changed && lease.note.kind != LeaseKind::directory) {
      session.notice(fmt::format("kept {}: created by a killed run, but changed since", path));
    }
  }
  for (const std::string& share : hung) {
    session.notice(fmt::format("leftovers of killed runs stay on {}, which does not respond",
                               printable_line(share)));
  }
}

void add_clean_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("clean", "Remove leftovers of killed runs");
  const auto only_list = std::make_shared<bool>(false);
  command->add_flag("--list", *only_list,
                    "List what filereel has created and not yet removed; change nothing");
  command->footer(
      "The next run, replay or populate also removes them. Files kept with --keep stay.\n"
      "Example:\n  filereel clean --list");
  command->callback([only_list, &session] { clean(*only_list, session); });
}

}  // namespace filereel
