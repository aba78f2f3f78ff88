// System calls: whatever a tracer reports, operations come out that a reel can hold, and what was
// opened is closed.
//
// Each call is a line of text: its number, then numbers and names as far as there are any. Where
// the first line is "under", what does not touch /d is left out.
#include <cstdint>
#include <sstream>
#include <string>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/traces/checked_operations.h"
#include "traces/calls/call_resolver.h"

namespace {

using namespace filereel;

constexpr unsigned kCalls = static_cast<unsigned>(Call::unshare) + 1;

}  // namespace

FUZZ_TARGET(calls) {
  TraceTables tables;
  CheckedOperations check;
  TraceBuilder builder(tables, check);
  const std::string text(reinterpret_cast<const char*>(data), size);
  CallResolver resolver(builder, {.under = text.starts_with("under\n") ? "/d" : ""});
  std::istringstream input(text);
  std::uint64_t now = 0;
  for (std::string line; std::getline(input, line) && ++now < 2000;) {
    std::istringstream words(line);
    SystemCall call;
    unsigned kind = 0, requested = 0, how = 0;
    std::uint64_t offset = 0, seen = 0;
    words >> how >> kind >> call.thread >> call.result >> call.fd >> call.fd2 >> call.flags >>
        call.length >> offset >> call.address >> call.mode >> call.request >> requested >>
        call.path >> call.path2 >> call.result_path >> call.fd_path >> call.text >> call.dir >>
        call.dir_path >> call.file >> call.file2 >> call.dir_file >> call.result_file >> seen;
    call.call = static_cast<Call>(kind % kCalls);
    call.requested = requested % 2 ? Call::read : requested % 4 ? Call::write : Call::fsync;
    call.enter_ns = now - (how >> 8 & 15);
    call.exit_ns = now;
    if (how & 1) call.offset = offset;
    if (how & 2) {
      call.stat = SeenStat{
          .mode = static_cast<std::uint32_t>(call.mode), .size = offset, .inode = seen & 7};
    }
    if (seen & 8) call.position = offset;
    if (seen & 16) call.size_before = call.length;
    if (seen & 32) call.created = (seen & 64) != 0;
    if (seen & 128) call.fd = SystemCall::kNone;
    if (seen & 256) call.address = 0;
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
}
