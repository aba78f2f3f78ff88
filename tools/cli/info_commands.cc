// filereel list and doctor: the catalogue, and the features that this machine supports.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/engine/engine_kind.h"
#include "replay/plan/catalogue.h"
#include "replay/run/capabilities.h"
#include "tools/cli/commands.h"
#include "tools/cli/recording.h"
#include "tools/cli/table.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

// The length of the longest name.
template <class List>
std::size_t width_of(const List& list) {
  std::size_t width = 0;
  for (const auto& one : list) width = std::max(width, one.name.size());
  return width;
}

template <class One>
std::string described(const One& one, std::size_t width) {
  const std::string name = fmt::format("  {:<{}}  ", one.name, width);
  return wrapped(name + std::string(one.description), name.size());
}

void list(const Session& session) {
  const auto heading = [&](const std::string& text) {
    return session.bold(text, STDOUT_FILENO) + "\n";
  };
  std::string text = heading("File sets");
  const std::vector<CatalogueFileSet> sets = list_catalogue_file_sets();
  for (const CatalogueFileSet& set : sets) {
    const std::string figures =
        fmt::format("  {:<{}} {:>6} {:<5} {:>8}  ", set.name, width_of(sets), set.files,
                    agreeing(set.files, "file", "files"), format_size(set.bytes));
    text += wrapped(figures + set.description, figures.size());
  }
  text += "\n" + heading("Plans");
  const std::vector<CataloguePlan> plans = list_catalogue_plans();
  for (const CataloguePlan& plan : plans) {
    text += described(plan, width_of(plans));
  }
  text += "\n" + heading("Workloads");
  const std::vector<CatalogueWorkload> workloads = list_catalogue_workloads();
  std::string recorded;
  for (const CatalogueWorkload& workload : workloads) {
    (workload.recorded ? recorded : text) += described(workload, width_of(workloads));
  }
  session.print(text + "\n" + heading("Recorded programs") + recorded);
}

std::string yes_no(bool yes) {
  return yes ? "yes" : "no";
}

std::string to_do(const FileSystemCapability& capability) {
  if (!capability.missing.empty()) return "see below";
  return capability.advice.empty() ? "-" : capability.advice;
}

// The commands that install the missing programs, by package manager; "" if nothing is missing.
std::string missing_programs(std::span<const std::string_view> missing) {
  if (missing.empty()) return "";
  std::string text =
      "\n" + wrapped(fmt::format("Not installed: {}. To install:", fmt::join(missing, ", ")), 2);
  for (std::size_t i = 0; i < kPackageManagers.size(); ++i) {
    const Installation installation = installation_of(missing, static_cast<PackageManager>(i));
    std::string line = fmt::format("  {:<8}{}", kPackageManagers[i], installation.command);
    if (!installation.without.empty())
      line += fmt::format(" (no package: {})", fmt::join(installation.without, ", "));
    text += wrapped(line, 10);
  }
  return text;
}

void doctor(const Session& session) {
  const Capabilities found = probe_capabilities();
  Rows rows = {{"file system", "mkfs", "kernel driver", "FUSE driver", "used", "to do"}};
  for (const FileSystemCapability& capability : found.file_systems) {
    const FileSystemInfo& info = file_system_info(capability.kind);
    rows.push_back({std::string(info.name), yes_no(capability.can_make),
                    yes_no(capability.has_kernel),
                    info.fuse_program.empty() ? "-" : yes_no(capability.has_fuse),
                    capability.driver.empty() ? "none" : capability.driver, to_do(capability)});
  }
  std::string text = format_columns(rows) + "\n";
  const auto line = [&](std::string_view what, std::string_view finding) {
    text += wrapped(fmt::format("{:<16} {}", what, finding), 17);
  };
  const std::string no_mounts = denial(CallUse::mounts);
  switch (found.power) {
    case MountCapability::full:
      line("mounts", "image files and block devices, in a private namespace");
      break;
    case MountCapability::fuse_only:
      line("mounts", fmt::format("image files with FUSE drivers only; {} for kernel drivers",
                                 root_advice("run as root", kAllowMounts)));
      break;
    case MountCapability::none:
      line("mounts", "none (directories only): " +
                         (!no_mounts.empty() ? no_mounts
                          : is_root()        ? std::string(kAllowMounts)
                                      : "run as root, or allow user namespaces and /dev/fuse"));
      break;
  }
  line("loop devices",
       found.loop_devices
           ? "yes"
           : fmt::format("no: {} load the loop module",
                         root_advice("run as root, or", "make /dev/loop* accessible, and")));
  line("FUSE", found.fuse ? "yes" : "no: load the fuse module, or make /dev/fuse accessible");
  line("cold caches",
       fmt::format("{}{}fadvise per file", found.power == MountCapability::none ? "" : "remount, ",
                   found.drops_caches ? "drop_caches, " : ""));
  line("cache check", found.cachestat ? "cachestat" : "mincore (cachestat needs Linux 6.5)");
  line("recording", describe_recorders());
  const std::optional<std::string> no_uring = uring_unavailable_reason();
  line("io_uring", no_uring ? "no: " + *no_uring : "yes");
  const std::string no_openat2 = denial("openat2");
  line("confinement",
       no_openat2.empty() ? "openat2" : fmt::format("replay is impossible: {}", no_openat2));
  const std::string denied = denied_calls();
  line("system calls", denied.empty() ? "all allowed" : "denied by a policy: " + denied);
  line("/proc", has_proc() ? "mounted"
                           : "missing: most commands need it; mount it (mount -t proc proc /proc)");
  session.print(text + missing_programs(found.missing));
}

}  // namespace

void add_list_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("list", "List the catalogue: file sets, plans, workloads");
  command->footer("Example:\n  filereel list");
  command->callback([&session] { list(session); });
}

void add_doctor_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doctor", "Show what this machine supports, and how to get the rest");
  command->footer("Example:\n  sudo filereel doctor");
  command->callback([&session] { doctor(session); });
}

}  // namespace filereel
