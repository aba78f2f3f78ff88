// How this folder works: a source (the text of strace, events of the BPF recorder, other traces of
// calls) turns each call that it reads into a SystemCall (system_call.h) by the table in
// call_table.cc, and passes it to a CallResolver when it starts and when it ends. CallOrder
// (call_order.cc) delays calls until the order explains their results. translate() in
// call_translation.cc then calls the handler of the kind (file_calls.h, process_calls.h,
// mapping_calls.h), which resolves names and descriptors (path_resolution.h, open_files.h) and
// writes operations by the Emitter into a TraceBuilder. CallParts (call_translation.h) has all
// state; each part uses only the parts before it. Start with system_call.h and CallParts, then
// follow one call, such as rename, through call_translation.cc.
//
// Translates system calls into operations: descriptor tables, shared offsets, working directories,
// paths, mappings. Recorders, and importers of traces of calls, use it; they only read their own
// formats. Everything happens on the thread that calls, none of it is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/calls/path_resolution.h"
#include "traces/calls/system_call.h"
#include "traces/model/trace_builder.h"

namespace filereel {

struct ResolverOptions {
  // The base of relative paths without a known chdir.
  std::string working_directory = "/";
  // Keeps only operations in or below this directory, and operations on threads. Absolute, without
  // symbolic links. Empty: all.
  std::string under = {};
  // Names by bind mounts from before the trace.
  std::vector<BoundName> bound = {};
  // The tracer reports page faults: which pages of mapped files were stored to is known.
  bool faults = false;
  // Returns the target of the symbolic link that has been at an absolute path since before the
  // trace; empty: there is none. Called once for each path; see ExistingLinks.
  std::function<std::string(const std::string& path)> link_at = {};
  // Called with the absolute path of each program that a recorded process has executed, but for
  // those in /proc, /sys and /dev.
  std::function<void(const std::string& path)> executed = {};
};

// A process that existed before the trace.
struct KnownProcess {
  std::uint32_t id = 0;
  std::string name = {};               // of its program; empty: unknown
  std::vector<std::uint32_t> threads;  // all threads, including the first; empty: only the first
  std::string directory;               // working directory; empty: as in the options
  std::string root;                    // base of its absolute paths; empty: "/"
  std::uint32_t mode_mask = 022;       // its umask
  struct Open {
    int number = 0;
    std::string path;            // as in SystemCall::fd_path
    std::uint32_t flags = 0;     // O_*
    std::uint64_t position = 0;  // bytes
    std::optional<SeenStat> stat;
  };
  std::vector<Open> open;
};

class CallResolver {
 public:
  // `builder` outlives the resolver.
  CallResolver(TraceBuilder& builder, const ResolverOptions& options);
  ~CallResolver();
  CallResolver(const CallResolver&) = delete;
  CallResolver& operator=(const CallResolver&) = delete;

  // States that the absolute `path`, when first seen, is a symbolic link with this target, unless
  // the trace created or changed it before. Call this before returned(), so that calls can go
  // through a link which is read only later.
  void expect_link(std::string_view path, std::string_view text);

  // Call this once, before the calls of the process.
  void begin_process(const KnownProcess& process);

  // The open file with this number is used by a call that returns later. Its open may be unknown:
  // it was opened before the trace, or received through a socket.
  void told(const SeenFile& file);

  // A call has started; returned() reports it when it ends. Only thread, call, dir, path, fd, the
  // flags of locks, and enter_ns need to be known. Allows overlapping calls to be put in an order
  // that explains their results. Optional if the tracer does not know the start.
  void entered(const SystemCall& call);

  // A call has ended. Calls arrive in the order in which they ended.
  void returned(const SystemCall& call);

  // The thread has ended without an exit call (killed).
  void ended(std::uint32_t thread, std::uint64_t at_ns);

  // End of the trace: closes what is still open.
  void finish(std::uint64_t at_ns);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
