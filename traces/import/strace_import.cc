#include "traces/import/strace_import.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "traces/calls/known_calls.h"
#include "traces/calls/path_resolution.h"
#include "traces/calls/this_machine.h"
#include "traces/import/importers.h"
#include "traces/import/strace_lexer.h"
#include "traces/import/strace_lines.h"
#include "traces/import/strace_text.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

constexpr std::uint64_t kLinesToJudge = 20;
constexpr std::size_t kLongestFragment = 1 << 20;
constexpr std::size_t kMostUnfinished = 128 << 20;  // total bytes of unfinished calls
constexpr int kMostJoins = 3;
constexpr std::size_t kLongestCommand = 500;

// Written by strace when it continues a call interrupted by other output.
bool goes_on(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text.starts_with(')') || text.starts_with(',') || text.starts_with("=> ") ||
         text.starts_with("<unfinished ...>");
}

// Whether the line is an end of a thread, or a call that Linux has.
bool is_of_strace(const StraceLine& line) {
  return line.kind == StraceLine::Kind::ended || line.kind == StraceLine::Kind::superseded ||
         is_system_call(line.name);
}

ResolverOptions resolver_options(const ImportOptions& options, TraceBuilder& builder) {
  ResolverOptions made{.working_directory = options.working_directory, .under = options.under};
  if (const auto& live = options.live) {
    made.link_at = ExistingLinks(live->since_ns, live->process, builder);
    made.bound = live->bound;
    // The tracer is this process, or has its privileges.
    made.executed = [&builder](const std::string& path) {
      if (privileges_lost_to_tracing(path).empty()) return;
      builder.approximated("programs run without the privileges of their file (strace)");
    };
  }
  return made;
}

}  // namespace

StraceImport::StraceImport(LineReader& input, TraceBuilder& builder, const ImportOptions& options)
    : input_(input),
      builder_(builder),
      options_(options),
      resolver_(builder, resolver_options(options, builder)),
      threads_(input.peek()) {}

bool StraceImport::run() {
  if (const std::unique_ptr<LineReader> before = input_.again()) {
    for (const StraceLink& link : find_strace_links(*before, options_.stop)) {
      resolver_.expect_link(link.path, link.text);
    }
  }
  for (std::string_view text; input_.next(text);) {
    if (input_.line() % kLinesBetweenStops == 0 && options_.stop.stop_requested()) return false;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    ++lines_;
    take(text);
    if (lines_ == kLinesToJudge && understood_ == 0) check_understood();
  }
  check_understood();
  finish();
  return true;
}

// Also in other texts, some lines can look like calls.
void StraceImport::check_understood() {
  if (options_.live && (understood_ > 0 || lines_ == 0)) return;
  if (understood_ > 0 && understood_ >= other_) return;
  if (understood_ > 0) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}:{}: only {} {} of strace; pass the output of "
                            "strace -f -o FILE",
                            printable(input_.name()), input_.line(),
                            counted_of(understood_, lines_, "line"),
                            agreeing(understood_, "is a line", "are lines")));
  }
  throw Error(ErrorKind::unusable_input,
              fmt::format("{}:{}: no strace line found; pass the output of strace -f -o FILE",
                          printable(input_.name()), input_.line()));
}

void StraceImport::garbled(std::string_view text) {
  constexpr std::size_t kShown = 100;
  ++other_;
  if (unrecognised_.empty()) unrecognised_ = printable(text.substr(0, kShown));
  builder_.lost("unrecognised lines");
}

void StraceImport::keep_fragment(std::string_view text, bool certain) {
  if (text.size() > kLongestFragment || joins_ > kMostJoins) {
    joins_ = 0;
    return garbled(text);
  }
  fragment_ = text;
  fragment_certain_ = certain;
}

void StraceImport::lose_fragment() {
  if (fragment_.empty()) return;
  garbled(fragment_);
  fragment_.clear();
}

void StraceImport::take(std::string_view text) {
  if (const auto attached = cut_off_attached(text)) {
    threads_.attached(*attached);
    lose_fragment();
    joins_ = 0;
    return keep_fragment(text, true);
  }
  if (text.starts_with(" > ")) return;  // call stack (strace -k)
  if (text.starts_with(" | ")) return;  // content of a call (strace -e read=, write=)
  const StraceLine line = read_strace_line(text);
  switch (line.kind) {
    case StraceLine::Kind::garbled:
      if (!fragment_.empty() && (fragment_certain_ || goes_on(text))) {
        joined_ = fragment_;
        joined_ += text;
        fragment_.clear();
        ++joins_;
        return take_whole(joined_, read_strace_line(joined_));
      }
      return garbled(text);
    case StraceLine::Kind::attached:
      ++understood_;
      return threads_.attached(line.other);
    case StraceLine::Kind::notice:
      return;
    case StraceLine::Kind::stopped:
      if (!stopped_since_ns_) stopped_since_ns_ = clock_.at(line.stamp);
      return;
    case StraceLine::Kind::continued:
      if (stopped_since_ns_) stopped_ns_ += clock_.at(line.stamp) - *stopped_since_ns_;
      stopped_since_ns_.reset();
      return;
    default:
      lose_fragment();
      joins_ = 0;
      return take_whole(text, line);
  }
}

void StraceImport::take_whole(std::string_view text, const StraceLine& line) {
  if (line.kind == StraceLine::Kind::garbled) return garbled(text);
  if (line.kind == StraceLine::Kind::torn) return keep_fragment(text, false);
  const std::uint64_t at_ns = clock_.at(line.stamp);
  StraceThread& thread = threads_.of(line);
  if (!take(thread, line, at_ns)) return keep_fragment(text, false);
  ++(is_of_strace(line) ? understood_ : other_);
}

bool StraceImport::take(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns) {
  switch (line.kind) {
    case StraceLine::Kind::call: {
      const CallRow* call = find_call(line.name);
      if (call == nullptr) return end_other(line.name, line.text);
      return end_call(thread, *call, line.text, nullptr, at_ns);
    }
    case StraceLine::Kind::unfinished:
      begin_call(thread, line, at_ns);
      break;
    case StraceLine::Kind::resumed:
      resume_call(thread, line, at_ns);
      break;
    case StraceLine::Kind::superseded:
      supersede(thread, line.other);
      break;
    case StraceLine::Kind::ended:
      if (line.dumped_core && (!options_.live || core_dumps_are_files())) {
        builder_.lost("core dumps");
      }
      end_thread(thread, at_ns);
      break;
    default:
      break;
  }
  return true;
}

// A small compressed text can start calls with a huge number of bytes.
void StraceImport::count_unfinished(std::size_t more) {
  unfinished_ += more;
  if (unfinished_ <= 2 * kMostUnfinished) return;
  unfinished_ = more;  // some have ended since
  for (const auto& [id, thread] : threads_.all()) {
    unfinished_ += thread.unneeded.size() + thread.pending.text.size();
  }
  if (unfinished_ <= kMostUnfinished) return;
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}:{}: more than {} of unfinished calls; this is not the output of strace",
                  printable(input_.name()), input_.line(), format_binary_size(kMostUnfinished)));
}

void StraceImport::begin_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns) {
  thread.unneeded.clear();
  thread.pending = StraceThread::Pending();
  count_unfinished(line.name.size() + line.text.size());
  const CallRow* call = find_call(line.name);
  if (call == nullptr) {
    thread.unneeded = line.name;
    return;
  }
  thread.pending.call = call;
  thread.pending.text = line.text;
  thread.pending.enter_ns = at_ns;
  thread.pending.as = thread.id;
  if (awaits_exec_ || is_beyond_memory()) return;
  if (reader_.read_beginning(*call, line.text) != StraceReader::Outcome::read) return;
  for (SystemCall& system_call : reader_.calls()) {
    system_call.thread = thread.id;
    system_call.enter_ns = system_call.exit_ns = at_ns;
    cut_roots(system_call);
    resolver_.entered(system_call);
    thread.pending.entered = true;
  }
}

void StraceImport::cut_roots(SystemCall& call) const {
  if (!options_.live) return;
  for (const std::string& root : options_.live->roots) {
    if (call.path == call.result_path) cut_root(call.path, root);  // opened by its handle
    for (std::string* path :
         {&call.fd_path, &call.fd2_path, &call.dir_path, &call.dir2_path, &call.result_path}) {
      cut_root(*path, root);
    }
  }
}

void StraceImport::resume_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns) {
  const StraceThread::Pending pending = std::exchange(thread.pending, {});
  if (pending.call == nullptr || pending.call->name != line.name) {
    if (thread.unneeded == line.name) {
      end_other(line.name, line.text);
    } else if (find_call(line.name) != nullptr) {
      builder_.lost("calls started before the trace");
    }
    return;
  }
  const std::string text = pending.text + std::string(line.text);
  if (!end_call(thread, *pending.call, text, &pending, at_ns)) garbled(line.text);
}

// A call outside of the table of calls. False if it has no result.
bool StraceImport::end_other(std::string_view name, std::string_view text) {
  constexpr std::string_view kResult = " = ";
  const std::size_t at = text.rfind(kResult);
  if (at == std::string_view::npos) return false;
  const std::string_view result = text.substr(at + kResult.size());
  const bool succeeded = !result.starts_with("-1 ") && !result.starts_with('?');
  if (!succeeded || awaits_exec_ || is_harmless_call(name)) return true;
  constexpr std::size_t kMostNames = 50, kLongestName = 60;
  const bool known = unknown_names_.contains(std::string(name));
  if (!known && (unknown_names_.size() == kMostNames || name.size() > kLongestName)) {
    name = "other names";
  } else {
    unknown_names_.emplace(name);
  }
  builder_.lost(fmt::format("unknown system calls: {}", name));
  return true;
}

bool StraceImport::is_beyond_memory() const {
  return options_.live && options_.live->memory && options_.live->memory->is_reached();
}

bool StraceImport::end_call(StraceThread& thread, const CallRow& call, std::string_view text,
                            const StraceThread::Pending* pending, std::uint64_t at_ns) {
  if (is_beyond_memory()) {
    options_.live->memory->drop(call.name, builder_);
    return true;
  }
  switch (reader_.read(call, text)) {
    case StraceReader::Outcome::torn:
      return false;
    case StraceReader::Outcome::no_file_call:
      return true;
    case StraceReader::Outcome::cut_off:
      if (pending != nullptr && pending->entered && call.call != Call::wait) {
        builder_.lost("calls cut off by the end of their thread");
      }
      return true;
    case StraceReader::Outcome::no_path:
      if (reader_.succeeded()) builder_.lost("calls whose file name strace does not show");
      return true;
    case StraceReader::Outcome::read:
      break;
  }
  if (awaits_exec_ && (call.call != Call::exec || !reader_.succeeded())) return true;
  awaits_exec_ = false;
  const bool entered = pending != nullptr && pending->entered;
  // An interrupted call is repeated, and appears in the trace again.
  if (reader_.result().text.starts_with("? ERESTART") && !entered) return true;
  const std::uint64_t enter_ns = pending != nullptr ? pending->enter_ns : at_ns;
  std::uint64_t exit_ns = at_ns;
  const std::optional<std::uint64_t>& duration = reader_.result().duration_ns;
  if (clock_.timed() && duration && *duration <= StraceClock::kLongest) {
    exit_ns = enter_ns + *duration;
  }
  if (call.call == Call::exec && reader_.succeeded()) remember_command();
  for (SystemCall& system_call : reader_.calls()) {
    system_call.thread = pending != nullptr ? pending->as : thread.id;
    system_call.enter_ns = enter_ns;
    system_call.exit_ns = exit_ns;
    cut_roots(system_call);
    resolver_.returned(system_call);
    if (system_call.call == Call::fork && system_call.result > 0 &&
        system_call.result <= UINT32_MAX) {
      threads_.announce(static_cast<std::uint32_t>(system_call.result));
    }
  }
  if (call.call == Call::exit || call.call == Call::exit_group) thread.has_exited = true;
  return true;
}

void StraceImport::supersede(StraceThread& thread, std::uint32_t other) {
  StraceThread* maker = threads_.find(other);
  if (maker == nullptr || maker == &thread) return;
  thread.pending = std::exchange(maker->pending, {});
  thread.has_exited = false;
  threads_.erase(*maker);
}

void StraceImport::end_thread(StraceThread& thread, std::uint64_t at_ns) {
  const auto is_end = [](Call call) {
    return call == Call::wait || call == Call::exit || call == Call::exit_group;
  };
  if (thread.pending.entered && !is_end(thread.pending.call->call) && !thread.has_exited) {
    builder_.lost("calls cut off by the end of their thread");
  }
  if (!thread.has_exited) resolver_.ended(thread.id, at_ns);
  threads_.erase(thread);
}

void StraceImport::remember_command() {
  if (!command_.empty()) return;
  StraceItems items(reader_.arguments()[1]);
  std::string word;
  bool cut = false;
  for (std::string_view item; items.next(item);) {
    if (!strace_string(item, word, cut)) continue;
    if (!command_.empty()) command_ += ' ';
    command_ += word;
    if (cut) command_ += "...";
  }
  command_ = printable(command_, kLongestCommand);
}

void StraceImport::finish() {
  lose_fragment();
  for (const auto& [id, thread] : threads_.all()) {
    if (thread.pending.entered && thread.pending.call->call != Call::wait) {
      builder_.lost("calls unfinished at the end of the trace");
    }
  }
  resolver_.finish(clock_.now());
  for (std::size_t i = 0; i < kStraceDoubts; ++i) {
    const auto doubt = static_cast<StraceDoubt>(i);
    const std::uint64_t count = reader_.doubts(doubt);
    if (count == 0) continue;
    if (doubt == StraceDoubt::hidden_request || doubt == StraceDoubt::hidden_completion) {
      builder_.lost(strace_doubt_name(doubt), count);
    } else {
      builder_.approximated(strace_doubt_name(doubt), count);
    }
  }
  if (stopped_since_ns_) stopped_ns_ += clock_.now() - *stopped_since_ns_;
  builder_.stopped(stopped_ns_);
  if (!unrecognised_.empty()) builder_.fact(kUnrecognisedFact, unrecognised_);
  builder_.fact("source", "strace");
  if (!command_.empty()) builder_.fact("command", command_);
  if (clock_.began() != 0) builder_.fact("recorded", utc_date(clock_.began()));
  if (clock_.whole_seconds()) builder_.fact("times", "whole seconds (strace -t)");
}

namespace {

// Looks for a line like "openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3" among the first ones.
bool recognises_strace(std::string_view beginning) {
  constexpr int kLines = 20;
  for (int i = 0; i < kLines && !beginning.empty(); ++i) {
    const std::size_t end = beginning.find('\n');
    const StraceLine line = read_strace_line(beginning.substr(0, end));
    if (end != std::string_view::npos && !is_system_call(line.name)) {
      beginning.remove_prefix(end + 1);
      continue;
    }
    if (!is_system_call(line.name)) break;
    if (line.kind == StraceLine::Kind::resumed) return true;
    if (line.kind == StraceLine::Kind::unfinished) return true;
    if (line.kind == StraceLine::Kind::call && StraceArguments().split(line.text)) return true;
    if (end == std::string_view::npos) break;
    beginning.remove_prefix(end + 1);
  }
  return false;
}

bool read_strace(LineReader& input, TraceBuilder& builder, const ImportOptions& options) {
  return StraceImport(input, builder, options).run();
}

}  // namespace

const Importer& strace_importer() {
  static constexpr Importer kImporter{
      .name = "strace",
      .description = "strace output, best with -f -ttt -T -y",
      .timed = true,
      .time_unit_ns = 1000,
      .recognises = recognises_strace,
      .read = read_strace,
  };
  return kImporter;
}

}  // namespace filereel
