// Passes the lines of one strace output to a CallResolver.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "traces/calls/call_resolver.h"
#include "traces/import/importers.h"
#include "traces/import/strace_lines.h"
#include "traces/import/strace_reader.h"

namespace filereel {

class StraceImport {
 public:
  // All outlive the object.
  StraceImport(LineReader& input, TraceBuilder& builder, const ImportOptions& options);

  // See CallResolver. To be called before run().
  void begin_process(const KnownProcess& process) { resolver_.begin_process(process); }

  // Skips everything before the first successful exec. To be called before run().
  void begin_with_exec() { awaits_exec_ = true; }

  // The first and the last line by the system clock, in ns; 0: unknown.
  std::uint64_t origin_ns() const { return clock_.began(); }
  std::uint64_t end_ns() const { return clock_.began() == 0 ? 0 : clock_.began() + clock_.now(); }

  // Reads everything; false if the stop was requested.
  bool run();

 private:
  void take(std::string_view text);
  void take_whole(std::string_view text, const StraceLine& line);
  // False if the line ends within its call.
  bool take(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  void keep_fragment(std::string_view text, bool certain);
  void lose_fragment();
  void garbled(std::string_view text);
  void check_understood();

  void count_unfinished(std::size_t more);
  void begin_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  void cut_roots(SystemCall& call) const;
  void resume_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  bool is_beyond_memory() const;
  void supersede(StraceThread& thread, std::uint32_t other);
  void end_thread(StraceThread& thread, std::uint64_t at_ns);
  // False if the text of the call is not complete.
  bool end_call(StraceThread& thread, const CallRow& call, std::string_view text,
                const StraceThread::Pending* pending, std::uint64_t at_ns);
  bool end_other(std::string_view name, std::string_view text);
  void remember_command();
  void finish();

  LineReader& input_;
  TraceBuilder& builder_;
  const ImportOptions& options_;
  CallResolver resolver_;
  StraceThreads threads_;
  StraceClock clock_;
  std::optional<std::uint64_t> stopped_since_ns_;  // a signal stopped the program
  std::uint64_t stopped_ns_ = 0;
  std::string unrecognised_;  // the first such line, printable
  StraceReader reader_;
  std::string fragment_, joined_;  // a call whose line was interrupted
  bool fragment_certain_ = false;  // strace itself interrupted it
  int joins_ = 0;                  // of this fragment
  // Non-empty lines; those that are certainly written by strace, and those that may be anything.
  std::uint64_t lines_ = 0, understood_ = 0, other_ = 0;
  std::unordered_set<std::string> unknown_names_;  // of calls; a bounded number
  // Bytes of unfinished calls, including calls finished since the last count.
  std::size_t unfinished_ = 0;
  std::string command_;
  bool awaits_exec_ = false;
};

}  // namespace filereel
