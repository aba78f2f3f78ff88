// Follows the lines of one strace text and tells a CallResolver what they say.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/calls/call_resolver.h"
#include "traces/import/importer.h"
#include "traces/import/strace_clock.h"
#include "traces/import/strace_reader.h"
#include "traces/import/strace_threads.h"

namespace filereel {

// Tells asynchronous requests apart. strace shows what the program gave them as a name, which may
// be the same for many; those end in the order in which they began.
class StraceRequests {
 public:
  std::uint64_t submit(std::uint64_t context, std::uint64_t name);
  // A number that submit never gave if none of that name is under way.
  std::uint64_t complete(std::uint64_t context, std::uint64_t name);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<std::uint64_t>> under_way_;
  std::uint64_t last_ = 0;
};

class StraceImport {
 public:
  // All outlive the object.
  StraceImport(LineReader& input, TraceBuilder& builder, const ImportOptions& options);

  // Reads everything; false if the stop was requested.
  bool run();

 private:
  void take(std::string_view text);
  void take_whole(std::string_view text, const StraceLine& line);
  // False if the line ends before its call does.
  bool take(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  void keep_fragment(std::string_view text, bool certain);
  void lose_fragment();
  void garbled();
  void check_understood();

  void begin_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  void resume_call(StraceThread& thread, const StraceLine& line, std::uint64_t at_ns);
  void supersede(StraceThread& thread, std::uint32_t other);
  void end_thread(StraceThread& thread, std::uint64_t at_ns);
  // False if the text of the call is not complete.
  bool end_call(StraceThread& thread, const StraceCall& call, std::string_view text,
                const StraceThread::Pending* pending, std::uint64_t at_ns);
  void report(StraceThread& thread, SystemCall& call, const StraceThread::Pending* pending);
  void remember_command();

  // strace_import_forks.cc
  bool introduce(StraceThread& thread);
  void forked(StraceThread& parent, const SystemCall& call, const StraceThread::Pending* pending);
  void fork_early(StraceThread& parent, StraceThread& child);
  std::vector<StraceThread*> forking();
  void hold(StraceThread& thread, std::string_view text, std::uint64_t at_ns);
  void settle(bool at_any_price);
  void release(std::uint32_t id);

  void finish();

  LineReader& input_;
  TraceBuilder& builder_;
  const ImportOptions& options_;
  CallResolver resolver_;
  StraceThreads threads_;
  StraceClock clock_;
  StraceReader reader_;
  StraceRequests requests_;
  std::string fragment_, joined_;             // a call whose line another text has cut
  bool fragment_certain_ = false;             // the other text was strace's own
  int joins_ = 0;                             // of this fragment
  std::uint64_t lines_ = 0, understood_ = 0;  // lines that are not empty
  std::size_t held_lines_ = 0;
  std::string command_;
};

}  // namespace filereel
