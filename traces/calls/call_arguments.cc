#include "traces/calls/call_arguments.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "traces/calls/call_finish.h"
#include "traces/operation.h"

namespace filereel {

void CallArguments::select(std::uint64_t command) {
  for (const CallCommand& one : row_.commands) {
    if (one.value != command) continue;
    selected_ = true;
    commanded_ = one.argument;
    call_.call = one.call;
    call_.flags |= one.flags;
    call_.mode = one.mode;
    if (!one.name.empty()) call_.name = one.name;
    return;
  }
  harmless_ = row_.is_harmless(command);
}

void CallArguments::set(Argument role, std::uint64_t number) {
  switch (role) {
    case Argument::descriptor:
      call_.fd = static_cast<int>(number);
      break;
    case Argument::descriptor2:
      call_.fd2 = static_cast<int>(number);
      break;
    case Argument::first:
      call_.fd = static_cast<int>(std::min<std::uint64_t>(number, INT_MAX));
      break;
    case Argument::last:
      call_.fd2 = static_cast<int>(std::min<std::uint64_t>(number, INT_MAX));
      break;
    case Argument::directory:
      call_.dir = static_cast<int>(number);
      break;
    case Argument::directory2:
      call_.dir2 = static_cast<int>(number);
      break;
    case Argument::flags:
    case Argument::open_flags:
      call_.flags |= number;
      break;
    case Argument::mode:
      call_.mode = number;
      break;
    case Argument::offset:
      call_.offset = number;
      break;
    case Argument::offset2:
      call_.offset2 = number;
      break;
    case Argument::length:
      call_.length = number;
      break;
    case Argument::address:
      call_.address = number;
      break;
    case Argument::command:
      select(number);
      break;
    case Argument::resolve:
      call_.resolve = number;
      break;
    case Argument::result:
      if (succeeded()) call_.result = static_cast<std::int64_t>(number);
      break;
    case Argument::seen_mode:
      if (succeeded()) seen().mode = static_cast<std::uint32_t>(number);
      break;
    case Argument::seen_size:
      if (succeeded()) seen().size = number;
      break;
    case Argument::seen_inode:
      if (succeeded()) seen().inode = number;
      break;
    case Argument::seen_device:
      if (succeeded()) seen().device = number;
      break;
    case Argument::seen_major:
      if (succeeded()) seen().device |= makedev(static_cast<unsigned>(number), 0);
      break;
    case Argument::seen_minor:
      if (succeeded()) seen().device |= makedev(0, static_cast<unsigned>(number));
      break;
    default:
      break;
  }
}

void CallArguments::set_time(std::size_t which, std::uint64_t seconds, std::uint64_t part,
                             std::uint64_t unit) {
  std::uint64_t& time = call_.times[which];
  if (part == UTIME_NOW || part == UTIME_OMIT) {
    time = part == UTIME_NOW ? kTimeNow : kTimeOmit;
    return;
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto whole = static_cast<std::int64_t>(seconds);
  std::int64_t ns = 0;
  bool moved = __builtin_mul_overflow(whole, kSecond, &ns) ||
               __builtin_add_overflow(ns, static_cast<std::int64_t>(part * unit), &ns);
  if (moved) ns = whole < 0 ? INT64_MIN : INT64_MAX;
  time = static_cast<std::uint64_t>(ns);
  if (time >= kTimeOmit) {  // the last two nanoseconds before 1970 have other meanings
    time = kTimeOmit - 1;
    moved = true;
  }
  call_.times_moved |= moved;
}

void CallArguments::lacks_text(bool is_null) {
  lacks_text_ = true;
  all_null_ &= is_null;
}

// What a call transferred is known from its result.
void CallArguments::lacks_number(Argument role) {
  call_.unreadable = true;
  const bool transfers = call_.call == Call::read || call_.call == Call::write;
  if (role == Argument::offset && transfers) call_.offset = kUnreadableOffset;
  if (role == Argument::length && transfers && succeeded()) {
    call_.length = static_cast<std::uint64_t>(call_.result);
  }
}

CallReading CallArguments::finish() {
  if (!row_.commands.empty() && !selected_) {
    if (harmless_) return CallReading::nothing;
    call_.call = Call::unsupported;
  }
  const bool is_supported = call_.call != Call::unsupported && call_.call != Call::unknown;
  if (!is_supported) return succeeded() ? CallReading::call : CallReading::nothing;
  // A null path can mean the descriptor itself, like an empty path.
  if (lacks_text_ && all_null_ && row_.finish == call_finish::by_descriptor) {
    if (call_.call == Call::utimens) call_.flags |= AT_EMPTY_PATH;
    if ((call_.flags & AT_EMPTY_PATH) != 0) lacks_text_ = false;
  }
  if (lacks_text_) {
    if (call_.result != -EFAULT) return CallReading::no_path;
    // A call that fails because of its pointer is counted with its kind, even without a path.
    call_.path_unread = true;
  }
  if (lacks_structure_ && call_.result >= 0) {
    call_.unreadable = true;
    return CallReading::call;
  }
  return !row_.finish || row_.finish(call_) ? CallReading::call : CallReading::nothing;
}

}  // namespace filereel
