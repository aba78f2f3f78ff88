// System calls: whatever a tracer reports, operations come out that a reel can hold, and what was
// opened is closed.
//
// Each call is a line of text: its number, then numbers and names as far as there are any.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include "traces/calls/call_resolver.h"

namespace {

using namespace filereel;

class Check final : public OperationSink {
 public:
  void add(const RecordedOperation& recorded) override {
    const Operation& op = recorded.operation;
    const bool succeeded = op.expected >= 0;
    if (op.kind == OperationKind::open && succeeded) {
      require(op.file != kNoFile && open_.insert(op.file).second);
    } else if (has(operation_info(op.kind).fields, Field::file) && op.file != kNoFile) {
      require(open_.contains(op.file));
    }
    if (op.kind == OperationKind::close) open_.erase(op.file);
    if (op.kind == OperationKind::map) require(mapped_.insert(op.source).second);
    if (op.kind == OperationKind::unmap) require(mapped_.erase(op.source) == 1);
    if (operation_info(op.kind).moves_data) {
      require(op.offset <= INT64_MAX && op.length <= INT64_MAX - op.offset);
      require(op.expected <= static_cast<std::int64_t>(op.length));
    }
  }

  void finish() const { require(open_.empty() && mapped_.empty()); }

 private:
  static void require(bool holds) {
    if (!holds) std::abort();
  }

  std::set<FileSlot> open_, mapped_;
};

constexpr unsigned kCalls = static_cast<unsigned>(Call::unshare) + 1;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TraceTables tables;
  Check check;
  TraceBuilder builder(tables, check);
  CallResolver resolver(builder, {});
  std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
  std::uint64_t now = 0;
  for (std::string line; std::getline(input, line) && ++now < 2000;) {
    std::istringstream words(line);
    SystemCall call;
    unsigned kind = 0, requested = 0, how = 0;
    std::uint64_t offset = 0;
    words >> how >> kind >> call.thread >> call.result >> call.fd >> call.fd2 >> call.flags >>
        call.length >> offset >> call.address >> call.mode >> call.request >> requested >>
        call.path >> call.path2 >> call.result_path >> call.fd_path >> call.text >> call.dir >>
        call.dir_path;
    call.call = static_cast<Call>(kind % kCalls);
    call.requested = requested % 2 ? Call::read : requested % 4 ? Call::write : Call::fsync;
    call.enter_ns = now - (how >> 8 & 15);
    call.exit_ns = now;
    if (how & 1) call.offset = offset;
    if (how & 2)
      call.stat = SeenStat{.mode = static_cast<std::uint32_t>(call.mode), .size = offset};
    if (how & 4) call.path.clear();
    if (how & 8) call.offset2 = call.address;
    if (how & 16) call.fd_path.clear();
    if (how & 32) call.result_path.clear();
    if (how & 64) {
      resolver.entered(call);
    } else if (how & 128) {
      resolver.ended(call.thread, now);
    } else {
      resolver.returned(call);
    }
  }
  resolver.finish(now);
  check.finish();
  return 0;
}
