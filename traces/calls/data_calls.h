// Calls that move data, list directories, or move the position of an open file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "traces/calls/call_context.h"
#include "traces/calls/open_files.h"

namespace filereel {

// Owns which threads submitted the asynchronous requests that are under way. Guarantees that
// operations have the position that the call had, and that open files move on as in the kernel.
class DataCalls {
 public:
  // All outlive this.
  DataCalls(TraceBuilder& builder, Emitter& emitter, OpenFiles& files, TaskTable& tasks)
      : builder_(builder), emitter_(emitter), files_(files), tasks_(tasks) {}

  void read(CallContext& context);
  void write(CallContext& context);
  void copy(CallContext& context);
  void seek(CallContext& context);
  void list(CallContext& context);
  void submit(CallContext& context);
  void complete(const CallContext& context);

 private:
  void transfer(const CallContext& context, OperationKind kind, Description& file,
                std::optional<std::uint64_t> offset);
  // A seek showed that `file` has this size.
  void tell_size(const CallContext& context, const Description& file, std::uint64_t size);

  struct RequestKey {
    std::uint32_t process;
    std::uint64_t request;
    bool operator==(const RequestKey&) const = default;
  };
  struct RequestHash {
    std::size_t operator()(const RequestKey& key) const {
      return std::hash<std::uint64_t>()(key.request * 0x9e3779b97f4a7c15ULL ^ key.process);
    }
  };

  TraceBuilder& builder_;
  Emitter& emitter_;
  OpenFiles& files_;
  TaskTable& tasks_;
  std::unordered_multimap<RequestKey, std::uint32_t, RequestHash> submitters_;  // threads
};

}  // namespace filereel
