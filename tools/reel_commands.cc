// filereel import and export: convert between reels and other programs' traces.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/catalog/catalog.h"
#include "filesets/ownership/atomic_file.h"
#include "filesets/system/counted.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "replay/run/catalogue.h"
#include "tools/commands.h"
#include "tools/output_options.h"
#include "tools/progress.h"
#include "tools/reel_output.h"
#include "tools/signals.h"
#include "traces/export/exporter.h"
#include "traces/import/importer.h"

namespace filereel {
namespace {

struct ImportArguments {
  std::string input, output, format = "auto", cwd = "/", initial, at, compared, check = "tree";
};

// The tree that the trace is compared with: the files of the trace themselves if they are in this
// directory, otherwise a copy of them, at whose root the paths of the trace start.
CheckRequest real_tree(const std::string& directory, TraceBuilder& builder) {
  const std::string real = canonical_path(directory);
  CheckRequest request;
  if (!real.empty()) {
    const bool is_place =
        builder.model().presence(builder.path(real)) == TreeModel::Presence::present;
    request.below = is_place ? real.substr(1) : "";
    request.is_copy = !is_place;
    const char* const root = is_place ? "/" : real.c_str();
    request.root.reset(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  if (!request.root) {
    throw Error(ErrorKind::failed, fmt::format("--compare-with {}: {}; name an existing directory",
                                               printable(directory), error_text(errno)));
  }
  return request;
}

void import_trace(const ImportArguments& arguments, Session& session) {
  std::optional<FileSet> initial;
  if (!arguments.initial.empty()) initial = load_file_set(arguments.initial);
  const SignalWatch signals;
  const auto interrupted = [&] {
    if (!signals.requested()) return false;
    session.notice("filereel: interrupted; nothing was written");
    session.exit_code = Session::kInterrupted;
    return true;
  };
  LineReader input(arguments.input, signals.token());
  input.peek();
  if (interrupted()) return;  // before the format was recognised
  const Importer& importer = find_importer(arguments.format, input);
  ReelOutput output(arguments.output, {.time_unit_ns = importer.time_unit_ns});
  if (checks_content(arguments.check)) output.sample_content();
  if (initial) {
    TraceBuilder& builder = output.builder();
    const bool absolute = arguments.at.starts_with('/') || arguments.at.empty();
    const PathId at = builder.path(absolute ? arguments.at : arguments.cwd + "/" + arguments.at);
    builder.model().begin_with(*initial, at);
  }
  {
    const ProgressLine line(session, [&] { return counted(output.written(), "operation"); });
    try {
      importer.read(input, output.builder(),
                    {.working_directory = arguments.cwd, .stop = signals.token()});
    } catch (const Error&) {
      if (!signals.requested()) throw;  // otherwise the last line may be incomplete
    }
  }
  if (interrupted()) return;  // input from a pipe may be incomplete
  output.builder().fact("source", importer.name);
  if (!arguments.compared.empty()) {
    const CheckRequest request = real_tree(arguments.compared, output.builder());
    if (output.check(request).differing > 0) session.exit_code = 1;
  }
  output.finish(importer.timed && output.builder().info().timed, session);
}

void export_reel(const std::string& name, const std::string& format, const std::string& output,
                 Session& session) {
  const Exporter& exporter = find_exporter(format);
  const std::string file = output_name(output);
  check_suffix("--output", file, exporter.suffix);
  const std::unique_ptr<ReelReader> opened = open_named_reel(name);
  ReelReader& reader = *opened;
  const SignalWatch signals;
  std::optional<AtomicFile> out;
  if (file != "-") out.emplace(file);
  std::atomic<std::uint64_t> read = 0;
  std::stop_source gone;  // the reader of the output has closed it
  const std::stop_callback interrupted(signals.token(), [&gone] { gone.request_stop(); });
  WatchedSource source(reader, read, gone.get_token());
  ExportLosses losses;
  {
    const ProgressLine line(
        session, [&] { return counted_of(read.load(), reader.info().operations, "operation"); });
    losses = exporter.write(source, reader.tables(), reader.info(), [&](std::string_view text) {
      if (out) {
        out->write(text);
      } else if (!gone.stop_requested() && !session.pipe(text)) {
        gone.request_stop();
      }
    });
  }
  if (signals.requested()) {
    session.notice(fmt::format("filereel: interrupted{}", out ? "; nothing was written" : ""));
    session.exit_code = Session::kInterrupted;
    return;
  }
  if (out) {
    if (const std::string elsewhere = out->commit(); !elsewhere.empty()) session.warn(elsewhere);
  }
  for (const auto& [reason, count] : losses) {
    session.notice(fmt::format("not exported to {}: {} ({})", exporter.name, reason, count));
  }
  notice_of_losses(reader.info(), session);
}

template <class List>
std::string formats(const List& list) {
  std::string text;
  for (const auto& one : list) text += fmt::format("\n  {:<8} {}", one.name, one.description);
  return text;
}

}  // namespace

void add_import_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("import", "Convert another program's trace to a reel");
  const auto arguments = std::make_shared<ImportArguments>();
  command->add_option("FILE", arguments->input, "Trace file; - for standard input")->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel,
                    "Reel to write; - for standard output")
      ->required();
  command->add_option("--format", arguments->format, "Format of the trace, or auto")
      ->capture_default_str();
  command
      ->add_option("--cwd", arguments->cwd,
                   "Working directory of the program, if the trace lacks it")
      ->capture_default_str();
  CLI::Option* initial = command->add_option("--initial", arguments->initial,
                                             "File set that existed before (see filereel capture)");
  command->add_option("--at", arguments->at, "Directory of that file set (default: the root)")
      ->needs(initial);
  CLI::Option* compared =
      command->add_option("--compare-with", arguments->compared,
                          "Compare what the trace leaves behind with the tree in this directory; "
                          "exit with 1 if they differ");
  command->add_option("--check", arguments->check, "What to compare: tree, or content too")
      ->capture_default_str()
      ->needs(compared);
  command->footer("Formats:" + formats(importers()) +
                  "\n\nExamples:\n  strace -f --seccomp-bpf -ttt -T -y -s 256 -o app.strace \\\n"
                  "         -e trace=%file,%desc,%process,%memory,umask app\n"
                  "  filereel import app.strace -o app.reel");
  command->callback([arguments, &session] { import_trace(*arguments, session); });
}

void add_export_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string reel, format, output = "-";
  };
  CLI::App* command = app.add_subcommand("export", "Convert a reel to another program's trace");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("REEL", arguments->reel, "Reel: a .reel file or a catalogue name")
      ->required();
  command->add_option("--format", arguments->format, "Format to write")->required();
  command->add_option("-o,--output", arguments->output, "File to write; - for standard output")
      ->capture_default_str();
  command->footer("Formats:" + formats(exporters()) +
                  "\n\nExample:\n  filereel export app.reel --format chrome -o app.json");
  command->callback([arguments, &session] {
    export_reel(arguments->reel, arguments->format, arguments->output, session);
  });
}

}  // namespace filereel
