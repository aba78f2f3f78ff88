#include "traces/import/strace_reader.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "traces/import/strace_text.h"

namespace filereel {
namespace {

constexpr std::string_view kInterrupted = "? ERESTART";

// makedev(0xfe, 0)
std::uint64_t device(std::string_view text) {
  constexpr std::string_view kBegin = "makedev(";
  if (!text.starts_with(kBegin)) return strace_value(text).value_or(0);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return 0;
  const std::uint64_t major =
      strace_value(text.substr(kBegin.size(), comma - kBegin.size())).value_or(0);
  const std::uint64_t minor = strace_value(text.substr(comma + 1)).value_or(0);
  return makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
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
    case StraceDoubt::unknown_flag:
      return "unknown flag names";
    case StraceDoubt::hidden_buffer:
      return "buffer lengths that strace does not show";
    case StraceDoubt::hidden_ring:
      return "io_uring requests, which strace does not show";
    case StraceDoubt::not_followed:
      return "unsupported system calls";
  }
  return {};
}

std::uint64_t StraceReader::value(std::string_view text) {
  bool known = true;
  const std::uint64_t found = strace_value(text, known).value_or(0);
  if (!known) doubt(StraceDoubt::unknown_flag);
  return found;
}

std::uint64_t StraceReader::sum_of_buffers(std::string_view text, std::uint64_t at_least) {
  std::uint64_t sum = 0;
  bool all = text.starts_with('[');
  StraceItems items(text);
  for (std::string_view item; items.next(item);) {
    if (item.starts_with('{')) {
      sum += strace_value(strace_member(item, "iov_len")).value_or(0);
    } else {
      all = false;  // "...": strace shows only the first ones
    }
  }
  if (all) return sum;
  doubt(StraceDoubt::hidden_buffer);
  return std::max(sum, at_least);
}

void StraceReader::read_structure(const Structure& structure, std::string_view text,
                                  CallArguments& to) {
  StraceItems items(text);
  bool found = false;
  std::size_t number = 0;
  for (std::string_view item; items.next(item); ++number) {
    for (std::size_t i = 0; structure.members[i].role != Argument::end; ++i) {
      const Structure::Member& member = structure.members[i];
      const std::size_t length = member.name.size();
      const bool is_it = length == 0 ? number == i
                                     : item.size() > length && item[length] == '=' &&
                                           item.starts_with(member.name);
      if (is_it) found |= fill(member.role, item.substr(length == 0 ? 0 : length + 1), to);
    }
  }
  if (!found && !text.empty()) to.lacks(structure);
}

// "[{tv_sec=1, tv_nsec=2}, UTIME_OMIT]", with tv_usec, or "{actime=1, modtime=2}"; NULL: now.
void StraceReader::read_times(std::string_view text, CallArguments& to) {
  to.set_time(0, 0, UTIME_NOW, 1);
  to.set_time(1, 0, UTIME_NOW, 1);
  StraceItems items(text);
  std::string_view item;
  for (std::size_t i = 0; i < 2 && items.next(item); ++i) {
    const auto member = [&](std::string_view name) {
      return strace_value(strace_member(item, name)).value_or(0);
    };
    if (!item.starts_with('{')) {
      const bool named = item.starts_with("UTIME_");
      const std::uint64_t number = strace_value(item.substr(item.find('=') + 1)).value_or(0);
      to.set_time(i, named ? 0 : number, named ? number : 0, 1);
    } else if (const std::uint64_t micro = member("tv_usec"); micro != 0) {
      to.set_time(i, member("tv_sec"), micro, 1000);
    } else {
      to.set_time(i, member("tv_sec"), member("tv_nsec"), 1);
    }
  }
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

void StraceReader::read_flags(std::string_view text, CallArguments& to) {
  constexpr std::string_view kName = "flags=";  // clone's
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  switch (to.call().call) {
    case Call::new_descriptor:  // only close-on-exec matters
    case Call::new_pair:
    case Call::fork:
    case Call::wait:
      return to.set(Argument::flags, strace_value(text).value_or(0));
    default:
      return to.set(Argument::flags, value(text));
  }
}

void StraceReader::read_link_text(std::string_view text, CallArguments& to) {
  SystemCall& call = to.call();
  bool cut = false;
  if (!to.succeeded() || !strace_string(text, call.text, cut) || !cut) return;
  call.text.clear();  // half a text would be another name
  doubt(StraceDoubt::cut_text);
}

// "0x7ffccc524cb0 /* 8 entries */", or with -v the entries themselves.
void StraceReader::read_entries(std::string_view text, SystemCall& call) {
  const std::size_t comment = text.find("/* ");
  if (text.starts_with('[')) {
    StraceItems items(text);
    for (std::string_view item; items.next(item);) ++call.entries;
  } else if (comment != std::string_view::npos) {
    call.entries = value(text.substr(comment + 3));
  }
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
    case Argument::command: {
      bool known = true;
      const std::uint64_t command = strace_value(text, known).value_or(0);
      if (known || command != 0) to.set(role, command);  // F_DUPFD is 0
      break;
    }
    case Argument::buffers:
      call.length = sum_of_buffers(
          text, to.succeeded() ? static_cast<std::uint64_t>(call.result) : std::uint64_t{0});
      break;
    case Argument::link_text:
      read_link_text(text, to);
      break;
    case Argument::value: {
      bool cut = false;
      if (!strace_string(text, call.value, cut) || cut) call.value.clear();
      break;
    }
    case Argument::entries:
      read_entries(text, call);
      break;
    case Argument::times_ns:
    case Argument::times_us:
    case Argument::times_s:
      read_times(text, to);
      break;
    case Argument::seen_device:
      to.set(role, device(text));
      break;
    default:
      if (const Structure* structure = structure_of(role)) {
        read_structure(*structure, text, to);
      } else {
        to.set(role, value(text));
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
      if (!fill(role, arguments_[at], to)) return false;
    } else if (role == Argument::path || role == Argument::path2) {
      to.lacks_text(false);  // unknown before the call returns
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
    case CallReading::not_followed:
      doubt(StraceDoubt::not_followed);
      break;
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
