#include "traces/import/strace_reader.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>
#include <type_traits>

#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filesets/system/search.h"
#include "traces/import/strace_text.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

constexpr std::string_view kInterrupted = "? ERESTART";

// makedev(0xfe, 0); nullopt for anything else that is not a number.
std::optional<std::uint64_t> device(std::string_view text) {
  constexpr std::string_view kBegin = "makedev(";
  if (!text.starts_with(kBegin)) return strace_number(text);
  text = text.substr(kBegin.size(), text.find(')') - kBegin.size());
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto major = strace_number(text.substr(0, comma));
  const auto minor = strace_number(text.substr(comma + 1));
  if (!major || !minor) return std::nullopt;
  return makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
}

// The value of the member if `item`, at position `number`, is that member.
std::optional<std::string_view> value_of(const Structure::Member& member, std::string_view item,
                                         std::size_t number, std::size_t position) {
  if (member.name.empty()) {
    return number == position ? std::optional(item) : std::nullopt;
  }
  for (const std::string_view name : {member.name, member.older_name}) {
    if (name.empty() || !item.starts_with(name) || item.size() <= name.size()) continue;
    if (item[name.size()] == '=') return item.substr(name.size() + 1);
  }
  return std::nullopt;
}

// A pointer that is not given.
bool is_null(std::string_view text) {
  return text.empty() || text == "NULL";
}

// "{tv_sec=1, tv_nsec=2}", with tv_usec, "{1, 2}" (older versions), in units of `unit` ns;
// "UTIME_NOW", "actime=1". False for anything else, such as a date in an unknown time zone.
bool read_time(std::string_view text, std::size_t which, std::uint64_t unit, CallArguments& to) {
  if (!text.starts_with('{')) {
    const bool named = text.starts_with("UTIME_");
    const auto number = strace_number(text.substr(text.find('=') + 1));
    if (!number) return false;
    to.set_time(which, named ? 0 : *number, named ? *number : 0, 1);
    return true;
  }
  StraceItems items(text);
  std::string_view seconds, part;
  if (!items.next(seconds) || !items.next(part)) return false;
  const auto value = [](std::string_view item) {
    return strace_number(item.substr(item.find('=') + 1));
  };
  if (!value(seconds) || !value(part)) return false;
  to.set_time(which, *value(seconds), *value(part), unit);
  return true;
}

// The first bytes of what is written, from the text of a buffer.
void read_data(std::string_view text, SystemCall& call) {
  constexpr std::size_t kLongestEscape = 4, kEnough = RecordedOperation::kMostData * kLongestEscape;
  bool cut = false;
  call.data.clear();
  if (text.size() <= kEnough) {
    strace_string(text, call.data, cut);
  } else if (text.starts_with('"')) {
    strace_unescape(text.substr(1, kEnough), call.data);
    call.data.resize(std::min(call.data.size(), RecordedOperation::kMostData));
  }
}

// The buffer of the first element of an array of struct iovec.
std::string_view first_buffer(std::string_view text) {
  StraceItems vector(text);
  std::string_view element, base;
  if (!vector.next(element)) return {};
  StraceItems members(element);
  if (!members.next(base)) return {};
  return base.substr(base.starts_with('"') ? 0 : base.find('=') + 1);
}

// clone's flags end with the signal at the end of the child.
std::string_view without_signal(std::string_view flags) {
  const std::size_t last = flags.rfind('|') + 1;  // 0: none
  if (!flags.substr(last).starts_with("SIG")) return flags;
  return last == 0 ? "0" : flags.substr(0, last - 1);
}

// Number of entries in "0x7ffccc524cb0 /* 8 entries */", or with -v the entries themselves; 0 if
// strace does not show it.
std::uint64_t entries_in(std::string_view text) {
  constexpr std::string_view kComment = "/* ", kEntry = "{d_ino=";
  std::uint64_t entries = 0;
  if (text.starts_with('[')) {
    StraceItems items(text);
    for (std::string_view item; items.next(item);) ++entries;
    return entries;
  }
  if (text.starts_with('{')) {  // older versions, without commas
    std::size_t at = text.find(kEntry);
    for (; at != std::string_view::npos; at = text.find(kEntry, at + 1)) ++entries;
    return entries;
  }
  const std::size_t comment = text.find(kComment);
  if (comment == std::string_view::npos) return 0;
  return strace_number(text.substr(comment + kComment.size())).value_or(0);
}

// "F_DUPFD", "BTRFS_IOC_CLONE or FICLONE", "_IOC(_IOC_WRITE, 0x94, 0x9, 0x4)"; nullopt if the name
// is unknown.
std::optional<std::uint64_t> command_in(std::string_view text) {
  constexpr std::string_view kParts = "_IOC(";
  if (!text.starts_with(kParts)) {
    bool known = true;
    const std::optional<std::uint64_t> command = strace_value(text, known);
    // One of two names suffices. F_DUPFD is 0.
    return known || command.value_or(0) != 0 ? command : std::nullopt;
  }
  std::array<std::uint64_t, 4> parts{};
  text = text.substr(kParts.size(), text.find(')') - kParts.size());
  for (std::uint64_t& part : parts) {
    const std::size_t comma = text.find(',');
    const std::optional<std::uint64_t> number = strace_number(text.substr(0, comma));
    if (!number) return std::nullopt;
    part = *number;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts[0] << _IOC_DIRSHIFT | parts[1] << _IOC_TYPESHIFT | parts[2] << _IOC_NRSHIFT |
         parts[3] << _IOC_SIZESHIFT;
}

bool is_descriptor(Argument role) {
  return role == Argument::descriptor || role == Argument::descriptor2 ||
         role == Argument::directory || role == Argument::directory2;
}

// strace omits other arguments that do not apply.
bool never_omitted(Argument role) {
  return is_descriptor(role) || role == Argument::offset || role == Argument::length;
}

bool descriptor_comes_back(Call call) {
  return call == Call::open || call == Call::new_descriptor;
}

}  // namespace

std::string_view strace_doubt_name(StraceDoubt doubt) {
  switch (doubt) {
    case StraceDoubt::cut_name:
      return "names truncated by strace (strace -s)";
    case StraceDoubt::cut_text:
      return "texts truncated by strace (strace -s)";
    case StraceDoubt::hidden_buffer:
      return "buffer lengths that strace does not show";
    case StraceDoubt::hidden_ring:
      return "io_uring requests, which strace does not show";
    case StraceDoubt::hidden_request:
      return "calls with values that could not be read: io_submit";
    case StraceDoubt::hidden_completion:
      return "calls with values that could not be read: io_getevents";
  }
  return {};
}

std::optional<std::uint64_t> StraceReader::sum_of_buffers(std::string_view text,
                                                          std::uint64_t at_least) {
  std::uint64_t sum = 0;
  bool all = text.starts_with('[');
  StraceItems items(text);
  for (std::string_view item; items.next(item);) {
    if (!item.starts_with('{')) {
      all = false;  // "...": strace shows only the first ones
      continue;
    }
    // {iov_base="ab", iov_len=2}, or {"ab", 2} in older versions of strace.
    StraceItems members(item);
    std::string_view base, length;
    if (!members.next(base) || !members.next(length)) return std::nullopt;
    const auto bytes = strace_number(length.substr(length.find('=') + 1));
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  if (all) return sum;
  doubt(StraceDoubt::hidden_buffer);
  return std::max(sum, at_least);
}

void StraceReader::read_structure(const Structure& structure, std::string_view text,
                                  CallArguments& to) {
  if (is_null(text)) return;
  StraceItems items(text);
  std::array<bool, std::extent_v<decltype(Structure::members)>> found{};
  std::size_t number = 0;
  for (std::string_view item; items.next(item); ++number) {
    for (std::size_t i = 0; structure.members[i].role != Argument::end; ++i) {
      const Structure::Member& member = structure.members[i];
      const auto value = value_of(member, item, number, i);
      if (value && fill(member.role, *value, to)) found[i] = true;
    }
  }
  bool has_size = false, has_mode = false;
  for (std::size_t i = 0; structure.members[i].role != Argument::end; ++i) {
    const Structure::Member& member = structure.members[i];
    if (!found[i] && !member.is_optional) to.lacks(structure);
    has_size |= found[i] && member.role == Argument::seen_size;
    has_mode |= found[i] && member.role == Argument::seen_mode;
  }
  // Devices have no size here.
  std::optional<SeenStat>& stat = to.call().stat;
  if (stat && (!has_mode || (S_ISREG(stat->mode) && !has_size))) stat.reset();
}

// "[{tv_sec=1, tv_nsec=2}, UTIME_OMIT]", "{{1, 2}, {3, 4}}", "{actime=1, modtime=2}"; NULL: now.
bool StraceReader::read_times(Argument role, std::string_view text, CallArguments& to) {
  to.set_time(0, 0, UTIME_NOW, 1);
  to.set_time(1, 0, UTIME_NOW, 1);
  if (is_null(text)) return true;
  constexpr std::uint64_t kMicrosecond = 1000;
  StraceItems items(text);
  std::string_view item;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!items.next(item)) return false;
    if (!read_time(item, i, role == Argument::times_us ? kMicrosecond : 1, to)) return false;
  }
  return true;
}

void StraceReader::read_path(std::string_view text, std::string& path, CallArguments& to) {
  bool cut = false;
  if (!strace_string(text, path, cut)) return to.lacks_text(text == "NULL");
  // strace shortens a name that is too long and adds "...".
  if (cut && path.size() + 1 < PATH_MAX) doubt(StraceDoubt::cut_name);
}

void StraceReader::read_text(std::string_view text, CallArguments& to) {
  SystemCall& call = to.call();
  bool cut = false;
  if (!strace_string(text, call.text, cut)) to.lacks_text(false);
  if (cut && call.text.size() + 1 < PATH_MAX) doubt(StraceDoubt::cut_name);
  // A prefix of an attribute's name is another name.
  if (cut && call.call != Call::symlink) to.lacks_text(false);
}

// Unknown names and anything else that is not a number count as an unknown flag.
void StraceReader::read_flags(std::string_view text, CallArguments& to) {
  constexpr std::string_view kName = "flags=";  // clone's
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  const Call call = to.call().call;
  if (call == Call::new_descriptor || call == Call::new_pair) {  // only close-on-exec matters
    return to.set(Argument::flags, strace_value(text).value_or(0));
  }
  if (call == Call::fork) text = without_signal(text);
  to.set(Argument::flags, strace_flags(text));
}

void StraceReader::read_link_text(std::string_view text, CallArguments& to) {
  SystemCall& call = to.call();
  bool cut = false;
  if (!to.succeeded() || !strace_string(text, call.text, cut) || !cut) return;
  call.text.clear();  // half a text would be another name
  doubt(StraceDoubt::cut_text);
}

// "{sa_family=AF_UNIX, sun_path="/a"}"; before strace 4.8, the member is "path". An abstract name
// is written as @"name".
void StraceReader::read_socket_name(std::string_view text, CallArguments& to) {
  for (const std::string_view member : {"sun_path", "path"}) {
    const std::string_view name = strace_member(text, member);
    if (name.starts_with('@')) return;
    if (name.starts_with('"')) return read_path(name, to.call().path, to);
  }
  constexpr std::string_view kLocal[] = {"AF_UNIX", "AF_LOCAL", "AF_FILE"};
  const std::string_view family = strace_member(text, "sa_family");
  // The kernel chooses an abstract name if there is none.
  const bool is_alone = !family.empty() && !text.contains(',');
  const bool may_be_local = family.empty() || contains(kLocal, family);
  if (may_be_local && !is_alone && !is_null(text)) to.lacks_text(false);
}

bool StraceReader::fill(Argument role, std::string_view text, CallArguments& to) {
  SystemCall& call = to.call();
  switch (role) {
    case Argument::none:
      break;
    case Argument::descriptor:
      return strace_descriptor(text, call.fd, call.fd_path);
    case Argument::descriptor2:
      return strace_descriptor(text, call.fd2, call.fd2_path);
    case Argument::directory:
      return strace_descriptor(text, call.dir, call.dir_path);
    case Argument::directory2:
      return strace_descriptor(text, call.dir2, call.dir2_path);
    case Argument::path:
      read_path(text, call.path, to);
      break;
    case Argument::path2:
      read_path(text, call.path2, to);
      break;
    case Argument::text:
      read_text(text, to);
      break;
    case Argument::flags:
    case Argument::open_flags:
      read_flags(text, to);
      break;
    case Argument::resolve:
      to.set(role, strace_flags(text));
      break;
    case Argument::command:
      if (const auto command = command_in(text)) to.set(role, *command);
      break;
    case Argument::buffers: {
      const std::uint64_t moved =
          to.succeeded() ? static_cast<std::uint64_t>(call.result) : std::uint64_t{0};
      const std::optional<std::uint64_t> sum = sum_of_buffers(text, moved);
      if (call.call == Call::write) read_data(first_buffer(text), call);
      call.length = sum.value_or(moved);
      return sum.has_value();
    }
    case Argument::socket_name:
      read_socket_name(text, to);
      break;
    case Argument::link_text:
      read_link_text(text, to);
      break;
    case Argument::value: {
      bool cut = false;
      if (!strace_string(text, call.value, cut) || cut) call.value.clear();
      break;
    }
    case Argument::data:
      read_data(text, call);
      break;
    case Argument::entries:
      call.entries = entries_in(text);
      break;
    case Argument::times_ns:
    case Argument::times_us:
    case Argument::times_s:
      return read_times(role, text, to);
    default: {
      if (const Structure* structure = structure_of(role)) {
        read_structure(*structure, text, to);
        break;
      }
      const auto number = role == Argument::seen_device ? device(text) : strace_number(text);
      if (!number) return false;
      to.set(role, *number);
    }
  }
  return true;
}

bool StraceReader::fill(const CallRow& row, CallArguments& to) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < row.arguments.size(); ++i) {
    const Argument role = to.role(i);
    if (role == Argument::end) break;
    if (role == Argument::unshown) continue;
    const std::size_t at = shown++;
    if (at < arguments_.count()) {
      if (fill(role, arguments_[at], to)) continue;
      if (is_descriptor(role)) return false;
      to.lacks_number(role);
    } else if (role == Argument::path || role == Argument::path2) {
      to.lacks_text(false);  // unknown before the call returns
    } else if (to.has_ended() && never_omitted(role)) {
      to.lacks_number(role);
    }  // otherwise omitted because it does not apply (the mode of an open)
  }
  SystemCall& call = to.call();
  if (to.succeeded() && descriptor_comes_back(call.call) && result().text.contains('<')) {
    int fd = 0;
    strace_descriptor(result().text, fd, call.result_path);
  }
  return true;
}

StraceReader::Outcome StraceReader::decode(const CallRow& row, bool ended) {
  static const SystemCall kFresh;
  count_ = 1;
  SystemCall& call = calls_[0];
  call = kFresh;  // keeps the memory of its strings
  if (ended) call.result = result().text.starts_with(kInterrupted) ? -EINTR : result().value;
  CallArguments to(row, ended, call);
  if (!fill(row, to)) return Outcome::torn;
  switch (to.finish()) {
    case CallReading::call:
      return read_others(to.succeeded()) ? Outcome::read : Outcome::no_file_call;
    case CallReading::no_path:
      return Outcome::no_path;
    case CallReading::nothing:
      break;
  }
  return Outcome::no_file_call;
}

StraceReader::Outcome StraceReader::read(const CallRow& row, std::string_view text) {
  count_ = 0;
  if (!arguments_.split(text)) return Outcome::torn;
  const bool ends_thread = row.call == Call::exit || row.call == Call::exit_group;
  const bool interrupted = result().text.starts_with(kInterrupted);
  if (result().kind == StraceResult::Kind::unknown && !ends_thread && !interrupted) {
    return Outcome::cut_off;
  }
  return decode(row, true);
}

StraceReader::Outcome StraceReader::read_beginning(const CallRow& row, std::string_view text) {
  arguments_.split(text);
  return decode(row, false);
}

}  // namespace filereel
