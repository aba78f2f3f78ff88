// filereel capture and populate: convert between directory trees and file sets.
#include <atomic>
#include <memory>
#include <string>
#include <system_error>

#include <boost/filesystem/path.hpp>
#include <fmt/format.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/formats/fileset_file.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/scan/capture.h"
#include "filesets/scan/populate.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/limit_checks.h"
#include "replay/measure/clock.h"
#include "replay/volumes/file_system.h"
#include "tools/cli/clean_command.h"
#include "tools/cli/commands.h"
#include "tools/cli/output_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/share_watch.h"
#include "tools/cli/signals.h"
#include "tools/cli/table.h"

namespace filereel {
namespace {

// Progress, passed from the working thread to the drawing thread.
struct TreeProgress {
  std::atomic<std::uint64_t> entries = 0, bytes = 0;
};

std::string contents(const FileSetTotals& totals) {
  std::string text = fmt::format("{}, {} ({}), {}", counted(totals.files, "file", "files"),
                                 format_size(totals.bytes), counted(totals.bytes, "byte"),
                                 counted(totals.directories, "directory", "directories"));
  if (totals.symlinks > 0) text += ", " + counted(totals.symlinks, "symlink", "symlinks");
  if (totals.hard_links > 0) text += ", " + counted(totals.hard_links, "hard link", "hard links");
  return text;
}

void capture(const std::string& folder, const std::string& output, bool cross, Session& session) {
  require_calls(CallUse::trees, "capture");
  const std::vector<std::string> paths = {folder, output};
  const ShareWatch watch(paths);
  const SignalWatch signals(paths);
  TreeProgress seen;
  // A stream has no name of its own.
  const std::string& named = names_stream(output) ? folder : output;
  FileSetWriter writer(output, {.name = named.substr(named.rfind('/') + 1),
                                .description = "",
                                .source = fmt::format("captured from {}", folder),
                                .seed = 1});
  CaptureTotals totals;
  {
    const ProgressLine line(session, [&] {
      return fmt::format("{}, {}", counted(seen.entries.load(), "entry", "entries"),
                         format_size(seen.bytes.load()));
    });
    totals = capture_tree(
        folder, {.cross_file_systems = cross, .stop = signals.token()},
        [&](const Entry& entry) { writer.add(entry); },
        [&](const CaptureProgress& now) {
          seen.entries = now.entries;
          seen.bytes = now.bytes;
        });
  }
  if (totals.interrupted) {
    session.notice("filereel: interrupted; nothing was written");
    session.exit_code = Session::kInterrupted;
    return;
  }
  const std::string elsewhere = writer.finish();
  if (!elsewhere.empty()) session.warn(elsewhere);
  std::string text = fmt::format(
      "{}: {}\n", output == "-" ? "standard output" : printable_line(output), contents(totals.set));
  if (totals.duplicate_files > 0) {
    text += fmt::format("{} with the content of another file ({})\n",
                        counted(totals.duplicate_files, "file", "files"),
                        format_size(totals.duplicate_bytes));
  }
  output == "-" ? static_cast<void>(session.print_aside(text)) : session.print(text);
  if (totals.times_moved > 0) {
    session.notice(
        fmt::format("{} with a modification time outside of 1677 to 2262: stored as "
                    "the nearest time within",
                    counted(totals.times_moved, "entry", "entries")));
  }
  if (totals.skipped() > 0) {
    session.notice(
        fmt::format("{} left out or incomplete:", counted(totals.skipped(), "path", "paths")));
    for (const SkippedPath& example : totals.examples) {
      session.notice(fmt::format("  {}: {}", example.path, example.reason));
    }
  }
}

// The limits of the file system that `folder`, which need not exist, is on.
FileSystemLimits limits_of_folder(const std::string& folder) {
  auto mounted = mounted_at(folder);
  if (!mounted) {
    const boost::filesystem::path parent = boost::filesystem::path(folder).parent_path();
    mounted = mounted_at(parent.empty() ? "." : parent.string());
  }
  return limits_of_mount(mounted.value_or(MountedFileSystem()));
}

// What is wrong with a scale; "" if nothing is.
std::string wrong_scale(const std::string& text) {
  const auto scale = parse_number_in<double>(text, 0, kMaxScale);
  if (scale && *scale > 0) return "";
  return fmt::format("must be a number above 0 and up to {}, not '{}'", kMaxScale, printable(text));
}

void populate(const std::string& set_name, const std::string& folder, double scale,
              Session& session) {
  require_calls(CallUse::volumes, "populate");
  const std::vector<std::string> paths = {folder, set_name};
  const ShareWatch watch(paths);
  const FileSet set = load_file_set(set_name, scale);
  const FileSystemLimits limits = limits_of_folder(folder);
  constexpr std::string_view kAdvice = "choose a directory on another file system";
  check_links(set.entries, limits, kAdvice);
  check_entries(set.entries, limits, kAdvice);
  clear_leftovers(session);
  const SignalWatch signals(paths);
  const std::uint64_t began = now_ns();
  const FileSetTotals all = set.totals();
  TreeProgress made;
  PopulateTotals totals;
  {
    const ProgressLine line(session, [&] {
      const double elapsed = static_cast<double>(now_ns() - began) * 1e-9;
      const double done =
          all.bytes == 0 ? 0
                         : static_cast<double>(made.bytes.load()) / static_cast<double>(all.bytes);
      return fmt::format("{} of {}, {} of {}  {}", made.entries.load(),
                         counted(set.entries.size(), "entry", "entries"),
                         format_size(made.bytes.load()), format_size(all.bytes),
                         time_left(done, elapsed));
    });
    totals =
        populate_tree(set, folder, {.stop = signals.token(), .time_unit_ns = limits.time_unit_ns},
                      [&](const PopulateProgress& now) {
                        made.entries = now.entries;
                        made.bytes = now.bytes;
                      });
  }
  if (totals.interrupted) {
    session.notice("filereel: interrupted; nothing was created");
    session.exit_code = Session::kInterrupted;
    return;
  }
  session.print(fmt::format("{}: {}\n", printable_line(folder), contents(totals.set)));
  const auto lost = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) session.notice(fmt::format("{} {}", counted(count, "entry", "entries"), what));
  };
  lost(totals.set_ids_dropped, "without the set-user-ID or set-group-ID bit");
  lost(totals.modes_lost, "with a mode that the file system rejected");
  lost(totals.times_lost, "with times that the file system rejected or changed");
}

}  // namespace

void add_capture_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string folder, output;
    bool cross = false;
  };
  CLI::App* command = app.add_subcommand("capture", "Convert a directory tree to a file set");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->folder, "Directory tree to read")->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::file_set,
                    "File set to write; - for standard output")
      ->required();
  command->add_flag("--cross-file-systems", arguments->cross,
                    "Include file systems mounted below DIR");
  command->footer("Example:\n  filereel capture /usr/include -o include.fileset");
  command->callback([arguments, &session] {
    capture(arguments->folder, arguments->output, arguments->cross, session);
  });
}

void add_populate_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string set, folder;
    double scale = 1;
  };
  CLI::App* command = app.add_subcommand("populate", "Create a directory tree from a file set");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SET", arguments->set, "File set: a catalogue name or a file")->required();
  command->add_option("DIR", arguments->folder, "Empty or new directory")->required();
  command->add_option("--scale", arguments->scale, "Size factor for the file set, such as 0.1")
      ->check(CLI::Validator(wrong_scale, ""));
  command->footer("Example:\n  filereel populate programs ./programs --scale 0.1");
  command->callback([arguments, &session] {
    populate(arguments->set, arguments->folder, arguments->scale, session);
  });
}

}  // namespace filereel
