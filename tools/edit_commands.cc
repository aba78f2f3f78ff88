// filereel cut, merge, repeat and anonymise: create new reels from existing ones.
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/run/catalogue.h"
#include "tools/commands.h"
#include "tools/output_options.h"
#include "tools/progress.h"
#include "tools/reel_output.h"
#include "tools/signals.h"
#include "tools/table.h"
#include "traces/edit/edit.h"

namespace filereel {
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
