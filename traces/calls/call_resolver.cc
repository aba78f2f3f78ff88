#include "traces/calls/call_resolver.h"

#include "traces/calls/call_order.h"
#include "traces/calls/call_translation.h"

namespace filereel {

struct CallResolver::State {
  State(TraceBuilder& builder, const ResolverOptions& options)
      : translation(builder, options), order(translation) {}

  CallTranslation translation;
  CallOrder order;
};

CallResolver::CallResolver(TraceBuilder& builder, const ResolverOptions& options)
    : state_(std::make_unique<State>(builder, options)) {}

CallResolver::~CallResolver() = default;

void CallResolver::expect_link(std::string_view path, std::string_view text) {
  state_->translation.expect_link(path, text);
}

void CallResolver::begin_process(const KnownProcess& process) {
  state_->translation.begin_process(process);
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
  state_->translation.finish(at_ns);
}

}  // namespace filereel
