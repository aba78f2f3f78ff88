// From system calls to operations: descriptor tables, shared offsets, working directories, paths,
// mappings. The one place for it; importers and recorders only read their formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "traces/calls/system_call.h"
#include "traces/model/trace_builder.h"

namespace filereel {

struct ResolverOptions {
  // Where relative paths begin that no chdir is known for.
  std::string working_directory = "/";
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
