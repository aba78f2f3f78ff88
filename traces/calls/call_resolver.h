// From system calls to operations: descriptor tables, shared offsets, working directories, paths,
// mappings. The one place for it; importers and recorders only read their formats.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/model/trace_builder.h"

namespace filereel {

struct ResolverOptions {
  // Where relative paths begin that no chdir is known for.
  std::string working_directory = "/";
  // Only operations that touch this directory or something below it are kept, and those that are
  // about threads; absolute and without symbolic links. Empty: all.
  std::string under = {};
  // The tracer reports faults: which pages of mapped files were stored to is known.
  bool faults = false;
  // Tells the text of the symbolic link that has been at an absolute path since before the trace;
  // empty: there is none. Asked once for each path; see ExistingLinks.
  std::function<std::string(const std::string& path)> link_at = {};
};

// A process that was there before the trace began.
struct KnownProcess {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> threads;  // all, the first one too; empty: only that
  std::string directory;               // where it is; empty: where the options say
  std::string root;                    // where its absolute paths begin; empty: at "/"
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

  // What is at the absolute `path` when it is first seen is a symbolic link with this text, unless
  // the trace made or changed it before. To be said before the calls, which can then go through the
  // link although it is read only later.
  void expect_link(std::string_view path, std::string_view text);

  // To be said before the calls of the process, and once.
  void begin_process(const KnownProcess& process);

  // A call has begun that will be reported by returned() when it ends; only thread, call, dir, path
  // and enter_ns need to be known. What overlaps can thus be put in an order that explains the
  // results. May be left out where the tracer does not know it.
  void entered(const SystemCall& call);

  // A call has ended. Calls come in the order in which they ended.
  void returned(const SystemCall& call);

  // The thread has ended without a call that says so (killed).
  void ended(std::uint32_t thread, std::uint64_t at_ns);

  // The trace ends: what is still open is closed.
  void finish(std::uint64_t at_ns);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel
