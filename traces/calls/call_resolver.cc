#include "traces/calls/call_resolver.h"

#include "traces/calls/call_order.h"
#include "traces/calls/process_calls.h"

namespace filereel {

struct CallResolver::State {
  State(TraceBuilder& builder, const ResolverOptions& options)
      : parts(builder, options), order(parts) {}

  CallParts parts;
  CallOrder order;
};

CallResolver::CallResolver(TraceBuilder& builder, const ResolverOptions& options)
    : state_(std::make_unique<State>(builder, options)) {}

CallResolver::~CallResolver() = default;

void CallResolver::expect_link(std::string_view path, std::string_view text) {
  state_->parts.paths.expect_link(path, text);
}

void CallResolver::begin_process(const KnownProcess& process) {
  filereel::begin_process(state_->parts, process);
}

void CallResolver::told(const SeenFile& file) {
  state_->parts.files.told(file);
}

void CallResolver::entered(const SystemCall& call) {
  state_->order.entered(call);
}

void CallResolver::returned(const SystemCall& call) {
  state_->order.returned(call);
}

void CallResolver::ended(std::uint32_t thread, std::uint64_t at_ns) {
  SystemCall exit;
  exit.call = Call::exit;
  exit.thread = thread;
  exit.enter_ns = exit.exit_ns = at_ns;
  state_->order.returned(exit);
}

void CallResolver::finish(std::uint64_t at_ns) {
  state_->order.finish();
  end_all_tasks(state_->parts, at_ns);
}

}  // namespace filereel
