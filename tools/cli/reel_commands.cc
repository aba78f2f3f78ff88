// filereel import and export: convert between reels and other programs' traces.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <xxhash.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/ownership/atomic_file.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/plan/catalogue.h"
#include "tools/cli/commands.h"
#include "tools/cli/output_options.h"
#include "tools/cli/progress.h"
#include "tools/cli/reel_output.h"
#include "tools/cli/signals.h"
#include "tools/cli/table.h"
#include "traces/edit/edit.h"
#include "traces/export/exporters.h"
#include "traces/import/importers.h"

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
  std::size_t width = 0;
  for (const auto& format : list) width = std::max(width, format.name.size());
  std::string text;
  for (const auto& format : list) {
    text += fmt::format("\n  {:<{}}  {}", format.name, width, format.description);
  }
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

// filereel cut, merge, repeat and anonymise: create new reels from existing ones.
namespace {

constexpr const char* kReelHelp = "Reel: a .reel file or a catalogue name";
constexpr const char* kOutputHelp = "Reel to write; - for standard output";

// The open input reels of an edit, with a count of operations read.
class Editing {
 public:
  Editing(const std::vector<std::string>& reels, std::stop_token stop) : stop_(std::move(stop)) {
    for (const std::string& reel : reels) {
      readers_.push_back(open_named_reel(reel));
      sources_.push_back(std::make_unique<WatchedSource>(*readers_.back(), read_, stop_));
      timed_ = timed_ && readers_.back()->info().timed;
    }
  }

  TraceInput input(std::size_t i) {
    const ReelReader& reader = *readers_[i];
    return {*sources_[i], reader.tables(), reader.info(), reader.trees()};
  }
  std::size_t size() const { return readers_.size(); }
  void rewind() { readers_.front()->rewind(); }
  bool timed() const { return timed_; }
  std::uint64_t read() const { return read_; }
  std::uint64_t operations() const {
    std::uint64_t sum = 0;
    for (const auto& reader : readers_) sum += reader->info().operations;
    return sum;
  }
  void notice_of_torn(const Session& session) const {
    for (const auto& reader : readers_) {
      if (!reader->info().complete) {
        session.notice(
            fmt::format("the reel is truncated: its first {} used",
                        counted(reader->info().operations, "operation is", "operations are")));
      }
    }
  }

 private:
  std::stop_token stop_;
  std::vector<std::unique_ptr<ReelReader>> readers_;
  std::vector<std::unique_ptr<WatchedSource>> sources_;
  std::atomic<std::uint64_t> read_ = 0;
  bool timed_ = true;
};

// Creates `output` from `reels` with `work`, which reads each reel `times` times.
void edit(const std::vector<std::string>& reels, const std::string& output, std::uint32_t times,
          const std::function<void(Editing&, TraceBuilder&)>& work, Session& session) {
  const SignalWatch signals;
  Editing editing(reels, signals.token());
  editing.notice_of_torn(session);
  ReelOutput out(output, {});
  {
    const ProgressLine line(session, [&] {
      return counted_of(editing.read(), editing.operations() * times, "operation");
    });
    work(editing, out.builder());
  }
  if (signals.requested()) {
    session.notice("filereel: interrupted; nothing was written");
    session.exit_code = Session::kInterrupted;
    return;
  }
  out.finish(editing.timed(), session);
}

}  // namespace

void add_cut_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string reel, output, from, to;
    std::vector<std::uint32_t> threads;
    std::vector<std::string> paths;
  };
  CLI::App* command = app.add_subcommand("cut", "Extract a part of a reel by time, thread or path");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("REEL", arguments->reel, kReelHelp)->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel, kOutputHelp)
      ->required();
  command->add_option("--from", arguments->from, "Start time, such as 2s or 1.5min");
  command->add_option("--to", arguments->to, "End time (exclusive)");
  command->add_option("--thread", arguments->threads, "Thread to keep, by number; may be repeated")
      ->check(in_range(0, std::numeric_limits<std::uint32_t>::max()));
  command->add_option("--path", arguments->paths,
                      "Path to keep, with everything below it; may be repeated");
  command->footer("Example:\n  filereel cut app.reel -o start.reel --to 10s --path var/lib/mysql");
  command->callback([arguments, &session] {
    Cut cut;
    const auto time = [](const std::string& text, std::string_view option) {
      return text.empty() ? std::nullopt
                          : std::optional(parse_duration(text, option, ErrorKind::usage));
    };
    cut.from_ns = time(arguments->from, "--from");
    cut.to_ns = time(arguments->to, "--to");
    if (cut.to_ns && cut.from_ns.value_or(0) >= *cut.to_ns) {
      throw Error(ErrorKind::usage,
                  fmt::format("no operations between --from {} and --to {}",
                              arguments->from.empty() ? "0" : arguments->from, arguments->to));
    }
    cut.threads = arguments->threads;
    cut.below = arguments->paths;
    edit(
        {arguments->reel}, arguments->output, 1,
        [&](Editing& editing, TraceBuilder& out) {
          const std::size_t threads = editing.input(0).info.threads.size();
          for (const std::uint32_t thread : cut.threads) {
            if (thread < threads) continue;
            throw Error(ErrorKind::usage,
                        fmt::format("unknown thread {}: {} has {}, numbered from 0", thread,
                                    arguments->reel, counted(threads, "thread", "threads")));
          }
          cut_trace(editing.input(0), cut, out);
        },
        session);
  });
}

void add_merge_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::vector<std::string> reels;
    std::string output;
    bool apart = false;
  };
  CLI::App* command = app.add_subcommand("merge", "Merge reels to run concurrently");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("REELS", arguments->reels, "Reels: .reel files or catalogue names")
      ->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel, kOutputHelp)
      ->required();
  command->add_flag("--apart", arguments->apart,
                    "Give each reel a directory of its own (1, 2 ...) instead of a shared tree");
  command->footer("Example:\n  filereel merge web.reel database.reel -o server.reel");
  command->callback([arguments, &session] {
    edit(
        arguments->reels, arguments->output, 1,
        [&](Editing& editing, TraceBuilder& out) {
          std::vector<TraceInput> inputs;
          for (std::size_t i = 0; i < editing.size(); ++i) inputs.push_back(editing.input(i));
          merge_traces(inputs, arguments->apart, out);
        },
        session);
  });
}

void add_repeat_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string reel, output;
    std::uint32_t times = 2;
  };
  CLI::App* command = app.add_subcommand("repeat", "Concatenate N copies of a reel");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("REEL", arguments->reel, kReelHelp)->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel, kOutputHelp)
      ->required();
  command->add_option("--times", arguments->times, "Number of copies, each in its own directory")
      ->required()
      ->check(in_range(1, 1'000'000));
  command->footer("Example:\n  filereel repeat app.reel --times 10 -o long.reel");
  command->callback([arguments, &session] {
    edit(
        {arguments->reel}, arguments->output, arguments->times,
        [&](Editing& editing, TraceBuilder& out) {
          const auto again = [&] {
            editing.rewind();
            return editing.input(0);
          };
          repeat_trace(again, arguments->times, out);
        },
        session);
  });
}

void add_anonymise_command(CLI::App& app, Session& session) {
  struct Arguments {
    std::string reel, output, key;
  };
  CLI::App* command = app.add_subcommand("anonymise", "Replace all names in a reel");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("REEL", arguments->reel, kReelHelp)->required();
  add_output_option(*command, "-o,--output", arguments->output, OutputKind::reel, kOutputHelp)
      ->required();
  command->add_option("--key", arguments->key,
                      "Key for reproducible names; without it, names are random");
  command->footer("Example:\n  filereel anonymise app.reel -o public.reel");
  command->callback([arguments, &session] {
    std::uint64_t key = XXH3_64bits(arguments->key.data(), arguments->key.size());
    if (arguments->key.empty()) {
      std::random_device random;
      key = std::uint64_t{random()} << 32 | random();
    }
    edit(
        {arguments->reel}, arguments->output, 1,
        [&](Editing& editing, TraceBuilder& out) { anonymise_trace(editing.input(0), key, out); },
        session);
  });
}

}  // namespace filereel
