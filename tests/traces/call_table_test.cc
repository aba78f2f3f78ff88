#include "traces/calls/call_table.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "traces/calls/call_arguments.h"
#include "traces/calls/known_calls.h"
#include "traces/operation.h"

namespace filereel {
namespace {

// What comes of the call when `read` has read its arguments.
template <typename Read>
CallReading finished(std::string_view name, std::int64_t result, SystemCall& call,
                     const Read& read) {
  const CallRow* row = find_call(name);
  REQUIRE(row);
  call = SystemCall();
  call.result = result;
  CallArguments arguments(*row, true, call);
  read(arguments);
  return arguments.finish();
}

TEST_CASE("file times out of range become the nearest one") {
  SystemCall call;
  CallArguments to(*find_call("utimensat"), true, call);
  const auto time_of = [&](std::int64_t seconds, std::uint64_t part) {
    call.times_moved = false;
    to.set_time(0, static_cast<std::uint64_t>(seconds), part, 1);
    return call.times[0];
  };
  CHECK(time_of(-2, 500'000'000) == static_cast<std::uint64_t>(-1'500'000'000));
  CHECK(!call.times_moved);
  CHECK(time_of(9'223'372'036, 854'775'807) == INT64_MAX);
  CHECK(!call.times_moved);
  CHECK(time_of(9'223'372'036, 854'775'808) == INT64_MAX);
  CHECK(call.times_moved);
  CHECK(time_of(13'569'465'600, 0) == INT64_MAX);  // 2400
  CHECK(call.times_moved);
  CHECK(time_of(-14'831'769'600, 0) == static_cast<std::uint64_t>(INT64_MIN));  // 1500
  CHECK(call.times_moved);
  // What means "now" otherwise.
  CHECK(time_of(-1, 999'999'999) == kTimeOmit - 1);
  CHECK(call.times_moved);
  CHECK(time_of(0, UTIME_NOW) == kTimeNow);
  CHECK(time_of(0, UTIME_OMIT) == kTimeOmit);
  CHECK(!call.times_moved);
}

TEST_CASE("every call, and no other, is found by name") {
  for (const CallRow& row : call_rows()) CHECK(find_call(row.name) == &row);
  CHECK(find_call("futex") == nullptr);
  CHECK(find_call("") == nullptr);
}

TEST_CASE("a command's argument follows the command") {
  for (const CallRow& row : call_rows()) {
    CAPTURE(row.name);
    CHECK(row.has(Argument::command) == !row.commands.empty());
    CHECK(row.has(Argument::commanded) == !row.commands.empty());
    for (std::size_t i = 0; i < row.arguments.size(); ++i) {
      if (row.arguments[i] != Argument::commanded) continue;
      CHECK(row.arguments.at(i - 1) == Argument::command);
    }
  }
}

TEST_CASE("members are within their structures") {
  for (auto role = Argument::offset_pointer; role < Argument::result;
       role = static_cast<Argument>(static_cast<int>(role) + 1)) {
    const Structure* structure = structure_of(role);
    REQUIRE(structure);
    for (const Structure::Member& member : structure->members) {
      CAPTURE(member.name);
      CHECK(member.offset + member.size <= structure->size);
    }
  }
  CHECK(structure_of(Argument::path) == nullptr);
  CHECK(structure_of(Argument::result) == nullptr);
}

TEST_CASE("a command determines the call, and unknown ones are unsupported") {
  SystemCall call;
  Argument argument = Argument::none;
  const auto command = [&](std::uint64_t value) {
    return finished("fcntl", 0, call, [&](CallArguments& arguments) {
      arguments.set(arguments.role(1), value);
      argument = arguments.role(2);
    });
  };
  CHECK(command(F_SETFL) == CallReading::call);
  CHECK(call.call == Call::set_flags);
  CHECK(argument == Argument::open_flags);
  CHECK(command(F_OFD_SETLKW) == CallReading::call);
  CHECK(call.call == Call::record_lock);
  CHECK(call.mode == 1);
  CHECK(argument == Argument::lock);
  CHECK(command(F_GETFD) == CallReading::nothing);
  CHECK(command(F_SET_RW_HINT) == CallReading::nothing);
  CHECK(command(99) == CallReading::call);
  CHECK(call.call == Call::unsupported);
  // A command that could not be read.
  CHECK(finished("fcntl", 0, call, [](CallArguments&) {}) == CallReading::call);
  CHECK(call.call == Call::unsupported);
  CHECK(finished("fcntl", -EINVAL, call, [](CallArguments&) {}) == CallReading::nothing);
}

TEST_CASE("an ioctl that changes files is unsupported, one that looks at them is harmless") {
  SystemCall call;
  const auto reading = [&](std::uint64_t value) {
    return finished("ioctl", 0, call, [&](CallArguments& arguments) {
      arguments.set(Argument::descriptor, 3);
      arguments.set(arguments.role(1), value);
    });
  };
  for (const std::uint64_t harmless :
       {std::uint64_t{TCGETS}, std::uint64_t{FIONREAD}, std::uint64_t{FS_IOC_GETFLAGS},
        std::uint64_t{FS_IOC_FIEMAP}, std::uint64_t{FIGETBSZ}, std::uint64_t{FS_IOC_FSGETXATTR}}) {
    CHECK(reading(harmless) == CallReading::nothing);
  }
  CHECK(reading(FS_IOC_SETFLAGS) == CallReading::call);
  CHECK(call.call == Call::unsupported);
  CHECK(call.name == "ioctl FS_IOC_SETFLAGS");
  CHECK(reading(0x40f0660f) == CallReading::call);  // of a file system unknown here
  CHECK(call.call == Call::unsupported);
  CHECK(call.name == "ioctl");
}

TEST_CASE("every call of Linux either concerns files or is harmless") {
  for (const HarmlessCall& call : harmless_calls()) {
    CAPTURE(call.name);
    CHECK(find_call(call.name) == nullptr);
    CHECK(is_system_call(call.name));
  }
  CHECK(is_system_call("openat"));
  CHECK(is_system_call("syscall_0x1d3"));
  CHECK_FALSE(is_system_call("frobnicate"));
  CHECK_FALSE(is_system_call("printf"));
}

TEST_CASE("a null path denotes the descriptor if the kernel accepts it") {
  SystemCall call;
  const auto without_path = [&](std::string_view name, std::uint64_t flags, bool is_null = true) {
    return finished(name, 0, call, [&](CallArguments& arguments) {
      arguments.set(Argument::directory, 5);
      arguments.lacks_text(is_null);
      arguments.set(Argument::flags, flags);
    });
  };
  CHECK(without_path("utimensat", 0) == CallReading::call);
  CHECK(call.call == Call::futimens);
  CHECK(call.fd == 5);
  CHECK(without_path("newfstatat", AT_EMPTY_PATH) == CallReading::call);
  CHECK(call.call == Call::fstat);
  CHECK(without_path("newfstatat", 0) == CallReading::no_path);
  CHECK(without_path("newfstatat", AT_EMPTY_PATH, false) == CallReading::no_path);
  CHECK(without_path("utimes", 0) == CallReading::no_path);
  CHECK(without_path("linkat", AT_EMPTY_PATH) == CallReading::no_path);
}

TEST_CASE("a call that succeeded without its structure cannot be read") {
  SystemCall call;
  const auto lock = [&](std::int64_t result) {
    return finished("fcntl", result, call, [](CallArguments& arguments) {
      arguments.set(Argument::command, F_SETLK);
      arguments.lacks(*structure_of(Argument::lock));
    });
  };
  CHECK(lock(0) == CallReading::call);
  CHECK(call.unreadable);
  CHECK(lock(-EFAULT) == CallReading::call);
  CHECK_FALSE(call.unreadable);
}

}  // namespace
}  // namespace filereel
