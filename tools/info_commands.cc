// filereel list, show and doctor: what there is, what is in a file, what this machine can do.
#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/catalog/catalog.h"
#include "filesets/content/content_kinds.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/units.h"
#include "replay/engine/io_engine.h"
#include "replay/json.h"
#include "replay/results/result_json.h"
#include "replay/run/capabilities.h"
#include "replay/run/catalogue.h"
#include "replay/run/reels.h"
#include "tools/commands.h"
#include "tools/recorder_choice.h"
#include "tools/reel_summary.h"
#include "tools/result_file.h"
#include "tools/result_table.h"
#include "tools/table.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The length of the longest name.
template <class List>
std::size_t width_of(const List& list) {
  std::size_t width = 0;
  for (const auto& one : list) width = std::max(width, one.name.size());
  return width;
}

void list(const Session& session) {
  const auto heading = [&](const std::string& text) {
    return session.bold(text, STDOUT_FILENO) + "\n";
  };
  std::string text = heading("File sets");
  const std::vector<CatalogFileSet> sets = list_catalog_file_sets();
  for (const CatalogFileSet& set : sets) {
    text += fmt::format("  {:<{}} {:>6} files {:>8}  {}\n", set.name, width_of(sets), set.files,
                        format_size(set.bytes), set.description);
  }
  text += "\n" + heading("Plans");
  const std::vector<CatalogPlan> plans = list_catalog_plans();
  for (const CatalogPlan& plan : plans) {
    text += fmt::format("  {:<{}}  {}\n", plan.name, width_of(plans), plan.description);
  }
  text += "\n" + heading("Workloads");
  const std::vector<CatalogWorkload> workloads = list_catalog_workloads();
  std::string recorded;
  for (const CatalogWorkload& one : workloads) {
    (one.recorded ? recorded : text) +=
        fmt::format("  {:<{}}  {}\n", one.name, width_of(workloads), one.description);
  }
  session.print(text + "\n" + heading("Recorded programs") + recorded);
}

// The shape of a file set, as people and programs want it.
struct Shape {
  FileSetTotals totals;
  std::size_t depth = 0;  // of directories
  std::uint64_t median = 0;
  std::uint64_t holes = 0;  // bytes
  double compressed = 1;    // size after compression by size before, of all bytes
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> sizes;  // by power of 8: files, bytes
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> extensions;
};

int power_of_8(std::uint64_t size) {
  int power = 0;
  for (; size > 0; size /= 8) ++power;
  return power;
}

Shape shape_of(const FileSet& set) {
  Shape shape;
  shape.totals = set.totals();
  std::vector<std::uint64_t> sizes;
  double compressed = 0;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::directory) {
      shape.depth =
          std::max(shape.depth, static_cast<std::size_t>(1 + std::ranges::count(entry.path, '/')));
    }
    if (entry.kind != EntryKind::file) continue;
    sizes.push_back(entry.size);
    compressed += static_cast<double>(entry.size) * entry.content.compressed_permille / 1000.0;
    for (const Hole& hole : entry.holes) shape.holes += hole.length;
    const auto count = [&](auto& slot) {
      ++slot.first;
      slot.second += entry.size;
    };
    count(shape.sizes[power_of_8(entry.size)]);
    count(shape.extensions[std::string(extension_of(entry.path))]);
  }
  if (!sizes.empty()) {
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::ranges::nth_element(sizes, middle);
    shape.median = *middle;
  }
  if (shape.totals.bytes > 0) compressed /= static_cast<double>(shape.totals.bytes);
  shape.compressed = shape.totals.bytes > 0 ? compressed : 1;
  return shape;
}

// Lines behind the first are indented, so that none passes for another part of the table.
std::string paragraph(std::string_view text) {
  std::string indented;
  for (const char c : text.substr(0, text.find_last_not_of(" \n") + 1)) {
    indented += c;
    if (c == '\n') indented += "  ";
  }
  return printable_lines(indented) + "\n";
}

std::string describe_shape(const FileSet& set, const Session& session) {
  const Shape shape = shape_of(set);
  const FileSetTotals& totals = shape.totals;
  std::string text = session.bold(printable_line(set.name), STDOUT_FILENO) + "\n";
  if (!set.description.empty()) text += paragraph(set.description);
  if (!set.source.empty()) text += "source: " + printable_line(set.source) + "\n";
  text += fmt::format("\n{} files, {} bytes ({}), {} directories to a depth of {}\n", totals.files,
                      totals.bytes, format_size(totals.bytes), totals.directories, shape.depth);
  if (totals.symlinks + totals.hard_links > 0) {
    text += fmt::format("{} symbolic links, {} hard links\n", totals.symlinks, totals.hard_links);
  }
  text += fmt::format("median {}, largest {}; compresses to {:.0f} %; holes {}\n\n",
                      format_size(shape.median), format_size(totals.largest),
                      shape.compressed * 100, format_size(shape.holes));
  Rows rows = {{"size", "files", "bytes"}};
  for (const auto& [power, counted] : shape.sizes) {
    const std::string below = power == 0 ? "empty" : "< " + format_size(1ULL << (3 * power));
    rows.push_back({below, fmt::format("{}", counted.first), format_size(counted.second)});
  }
  text += format_columns(rows) + "\n";
  Rows by_extension = {{"extension", "files", "bytes"}};
  std::vector<std::pair<std::string, std::pair<std::uint64_t, std::uint64_t>>> extensions(
      shape.extensions.begin(), shape.extensions.end());
  std::ranges::sort(extensions, std::greater{}, [](const auto& one) { return one.second.second; });
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(kShown, extensions.size()); ++i) {
    const auto& [name, counted] = extensions[i];
    by_extension.push_back({name.empty() ? "(none)" : name, fmt::format("{}", counted.first),
                            format_size(counted.second)});
  }
  return text + format_columns(by_extension);
}

std::string shape_to_json(const FileSet& set) {
  const Shape shape = shape_of(set);
  const FileSetTotals& totals = shape.totals;
  Json json = {{"name", set.name},
               {"description", set.description},
               {"source", set.source},
               {"files", totals.files},
               {"bytes", totals.bytes},
               {"directories", totals.directories},
               {"symlinks", totals.symlinks},
               {"hard_links", totals.hard_links},
               {"depth", shape.depth},
               {"median_bytes", shape.median},
               {"largest_bytes", totals.largest},
               {"hole_bytes", shape.holes},
               {"compressed_share", shape.compressed}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Results are JSON objects; nothing else that `show` reads begins like that.
bool is_result(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char first = 0;
  return in >> std::ws >> first && first == '{';
}

void show(const std::string& name, bool json, bool operations, Session& session) {
  refuse_special_file(name);  // each of those below opens it
  if (operations) {
    dump_reel(name, session);
    return;
  }
  if (is_reel_file(name)) {
    show_reel(name, json, session);
    return;
  }
  if (is_result(name)) {
    const Result result = load_result(name);
    const auto bold = [&](const std::string& heading) {
      return session.bold(heading, STDOUT_FILENO);
    };
    json ? session.write(result_to_json(result)) : session.print(format_result(result, bold));
    return;
  }
  const FileSet set = load_file_set(name);
  json ? session.write(shape_to_json(set)) : session.print(describe_shape(set, session));
}

std::string yes_no(bool yes) {
  return yes ? "yes" : "no";
}

void doctor(const Session& session) {
  const Capabilities found = probe_capabilities();
  Rows rows = {{"file system", "make", "kernel driver", "FUSE driver", "a run uses", "to do"}};
  for (const FileSystemCapability& one : found.file_systems) {
    const FileSystemInfo& info = file_system_info(one.kind);
    rows.push_back({std::string(info.name), yes_no(one.can_make), yes_no(one.has_kernel),
                    info.fuse_program.empty() ? "-" : yes_no(one.has_fuse),
                    one.driver.empty() ? "nothing" : one.driver,
                    one.advice.empty() ? "-" : one.advice});
  }
  std::string text = format_columns(rows) + "\n";
  const auto line = [&](std::string_view what, std::string_view finding) {
    text += fmt::format("{:<16} {}\n", what, finding);
  };
  switch (found.power) {
    case MountPower::full:
      line("mounts", "image files and block devices, in a private namespace");
      break;
    case MountPower::fuse_only:
      line("mounts", "image files by FUSE drivers only; run as root for kernel drivers");
      break;
    case MountPower::none:
      line("mounts", "none: directories only; run as root, or allow user namespaces and /dev/fuse");
      break;
  }
  line("loop devices", found.loop_devices ? "yes" : "no: run as root, or load the module loop");
  line("FUSE", found.fuse ? "yes" : "no: load the module fuse, or make /dev/fuse accessible");
  line("cold caches",
       fmt::format("{}{}fadvise per file", found.power == MountPower::none ? "" : "remount, ",
                   found.drops_caches ? "drop_caches, " : ""));
  line("coldness by", found.cachestat ? "cachestat" : "mincore (cachestat needs Linux 6.5)");
  line("recording", describe_recorders());
  const std::optional<std::string> no_uring = why_no_uring();
  line("io_uring", no_uring ? "no: " + *no_uring : "yes");
  line("confinement", found.openat2 ? "openat2"
                                    : "missing: openat2 needs Linux 5.6, nothing can be "
                                      "replayed");
  session.print(text);
}

}  // namespace

void add_show_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string file;
    bool json = false, operations = false;
  };
  CLI::App* command = app.add_subcommand("show", "Say what is in a reel, a file set or a result");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "A reel, a result, a file set, or a catalogue name")
      ->required();
  command->add_flag("--json", arguments->json, "For programs");
  command->add_flag("--operations", arguments->operations,
                    "Every operation of a reel, a line each");
  command->footer(
      "Examples:\n  filereel show programs\n  filereel show drive.json\n"
      "  filereel show app.reel --operations | grep fsync");
  command->callback([arguments, &session] {
    show(arguments->file, arguments->json, arguments->operations, session);
  });
}

void add_list_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("list", "List the catalogue: file sets, plans, workloads");
  command->footer("Example:\n  filereel list");
  command->callback([&session] { list(session); });
}

void add_doctor_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine can do, and how to get the rest");
  command->footer("Example:\n  sudo filereel doctor");
  command->callback([&session] { doctor(session); });
}

}  // namespace filereel
