// System calls as a tracer would report them, and the operations that become of them, as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "traces/calls/call_resolver.h"

namespace filereel {

class RecordedCalls : public OperationSink {
 public:
  explicit RecordedCalls(const std::string& directory = "/")
      : RecordedCalls(ResolverOptions{.working_directory = directory}) {}
  explicit RecordedCalls(const ResolverOptions& options)
      : builder(tables, *this), resolver(builder, options) {}

  // Reports `call` as one that took a time of its own, unless its times are set.
  RecordedCalls& run(SystemCall call) {
    if (call.exit_ns == 0) {
      call.enter_ns = now_ns++;
      call.exit_ns = now_ns++;
    }
    resolver.returned(call);
    return *this;
  }

  // Reports only that `call` begins; run() the result of begin() when it has ended.
  SystemCall begin(SystemCall call) {
    call.enter_ns = now_ns++;
    resolver.entered(call);
    return call;
  }
  void end(SystemCall call, std::int64_t result) {
    call.result = result;
    call.exit_ns = now_ns++;
    resolver.returned(call);
  }

  // The operations since the last time, one a line: thread, name, what the kind uses, result.
  std::string text() {
    std::string all;
    for (const RecordedOperation& operation : operations) all += line(operation.operation) + "\n";
    operations.clear();
    return all;
  }

  std::uint64_t approximated(const std::string& what) {
    const auto& counts = builder.info().approximated;
    const auto found = counts.find(what);
    return found == counts.end() ? 0 : found->second;
  }
  std::uint64_t lost(const std::string& what) {
    const auto& counts = builder.info().lost;
    const auto found = counts.find(what);
    return found == counts.end() ? 0 : found->second;
  }

  void add(const RecordedOperation& operation) override { operations.push_back(operation); }

  TraceTables tables;
  TraceBuilder builder;
  CallResolver resolver;
  std::vector<RecordedOperation> operations;
  std::uint64_t now_ns = 1;

 private:
  std::string line(const Operation& op) const {
    const OperationInfo& info = operation_info(op.kind);
    const Field fields = info.fields;
    std::string text = fmt::format("{} {}", op.thread, info.name);
    const bool by_file = op.file != kNoFile;
    if (has(fields, Field::old_path) && !(op.kind == OperationKind::link && by_file)) {
      text += " " + tables.paths.relative(op.old_path) + " ->";
    }
    if (has(fields, Field::path) || (has(fields, Field::target) && !by_file)) {
      text += " " + tables.paths.relative(op.path);
    }
    if ((has(fields, Field::file) || has(fields, Field::target)) && by_file) {
      text += fmt::format(" #{}", op.file);
    }
    if (has(fields, Field::source)) text += fmt::format(" from {}", op.source);
    if (has(fields, Field::flags) && op.flags) text += fmt::format(" flags {:o}", op.flags);
    if (has(fields, Field::mode) && op.mode) text += fmt::format(" mode {:o}", op.mode);
    if (has(fields, Field::offset)) text += fmt::format(" @{}", op.offset);
    if (has(fields, Field::length)) text += fmt::format(" +{}", op.length);
    if (has(fields, Field::second)) text += fmt::format(" second {}", op.second);
    if (has(fields, Field::text)) text += fmt::format(" '{}'", tables.texts.text(op.text));
    if (op.expected) text += fmt::format(" = {}", op.expected);
    if (op.asynchronous) text += " asynchronous";
    if (op.loose) text += " loose";
    return text;
  }
};

// Calls of thread 100, unless by() says otherwise.
inline constexpr std::uint32_t kThread = 100;

inline SystemCall call_of(Call kind, std::int64_t result) {
  SystemCall call;
  call.call = kind;
  call.thread = kThread;
  call.result = result;
  return call;
}
inline SystemCall by(std::uint32_t thread, SystemCall call) {
  call.thread = thread;
  return call;
}
inline SystemCall on_path(Call kind, const std::string& path, std::int64_t result = 0,
                          std::uint64_t flags = 0) {
  SystemCall call = call_of(kind, result);
  call.path = path;
  call.flags = flags;
  return call;
}
inline SystemCall open_at(const std::string& path, int flags, std::int64_t result) {
  SystemCall call = on_path(Call::open, path, result, static_cast<std::uint64_t>(flags));
  call.mode = 0666;
  return call;
}
inline SystemCall on_file(Call kind, int fd, std::int64_t result = 0, std::uint64_t flags = 0) {
  SystemCall call = call_of(kind, result);
  call.fd = fd;
  call.flags = flags;
  return call;
}
inline SystemCall data(Call kind, int fd, std::uint64_t length, std::int64_t result) {
  SystemCall call = on_file(kind, fd, result);
  call.length = length;
  return call;
}
inline SystemCall data_at(Call kind, int fd, std::uint64_t offset, std::uint64_t length,
                          std::int64_t result) {
  SystemCall call = data(kind, fd, length, result);
  call.offset = offset;
  return call;
}
inline SystemCall close_of(int fd) {
  return on_file(Call::close, fd);
}
inline SystemCall dup_of(int fd, std::int64_t result, std::uint64_t flags = 0) {
  return on_file(Call::dup, fd, result, flags);
}
inline SystemCall fork_of(std::uint32_t child, std::uint64_t flags = 0) {
  SystemCall call = call_of(Call::fork, child);
  call.flags = flags;
  return call;
}
inline SystemCall two_paths(Call kind, const std::string& from, const std::string& to,
                            std::int64_t result = 0, std::uint64_t flags = 0) {
  SystemCall call = on_path(kind, from, result, flags);
  call.path2 = to;
  return call;
}

}  // namespace filereel
