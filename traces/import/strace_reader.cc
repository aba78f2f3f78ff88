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
      return "names that strace cut off (strace -s)";
    case StraceDoubt::cut_text:
      return "texts that strace cut off (strace -s)";
    case StraceDoubt::unknown_flag:
      return "flags by unknown names";
    case StraceDoubt::hidden_buffer:
      return "lengths of buffers that strace did not show";
    case StraceDoubt::hidden_ring:
      return "io_uring, whose requests strace does not show";
    case StraceDoubt::not_followed:
      return "calls that filereel does not follow";
  }
  return {};
}

bool StraceReader::succeeded() const {
  return !beginning_ && result().kind == StraceResult::Kind::number;
}

std::uint64_t StraceReader::value(std::string_view text) {
  bool known = true;
  const std::uint64_t found = strace_value(text, known).value_or(0);
  if (!known) doubt(StraceDoubt::unknown_flag);
  return found;
}

SystemCall& StraceReader::another() {
  if (count_ == calls_.size()) calls_.emplace_back();
  SystemCall& made = calls_[count_++];
  made = calls_[0];
  return made;
}

void StraceReader::drop_first() {
  for (std::size_t i = 1; i < count_; ++i) std::swap(calls_[i - 1], calls_[i]);
  --count_;
}

std::uint64_t StraceReader::sum_of_buffers(std::string_view text) {
  std::uint64_t sum = 0;
  bool all = text.starts_with('[');
  StraceItems items(text);
  for (std::string_view item; items.next(item);) {
    if (item.starts_with('{')) {
      sum += strace_value(strace_member(item, "iov_len")).value_or(0);
    } else {
      all = false;  // "...": strace shows the first ones only
    }
  }
  const std::uint64_t moved = succeeded() ? static_cast<std::uint64_t>(result().value) : 0;
  if (all) return sum;
  doubt(StraceDoubt::hidden_buffer);
  return std::max(sum, moved);
}

void StraceReader::read_stat(std::string_view text, SystemCall& call) {
  if (!succeeded() || !text.starts_with('{')) return;
  SeenStat seen;
  std::uint64_t major = 0, minor = 0;
  StraceItems items(text);
  for (std::string_view item; items.next(item);) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = item.substr(0, equals);
    const std::string_view text_of_value = item.substr(equals + 1);
    if (name.starts_with("stx_")) {
      name.remove_prefix(4);
    } else if (name.starts_with("st_")) {
      name.remove_prefix(3);
    }
    if (name == "mode") seen.mode = static_cast<std::uint32_t>(value(text_of_value));
    if (name == "size") seen.size = value(text_of_value);
    if (name == "ino") seen.inode = value(text_of_value);
    if (name == "dev") seen.device = device(text_of_value);
    if (name == "dev_major") major = value(text_of_value);
    if (name == "dev_minor") minor = value(text_of_value);
  }
  if (major != 0 || minor != 0) {
    seen.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  }
  call.stat = seen;
}

bool StraceReader::read_path(std::string_view text, std::string& path) {
  bool cut = false;
  if (!strace_string(text, path, cut)) return false;
  // Of a name that is too long strace shows as much as fits, and "..." too.
  if (cut && path.size() + 1 < PATH_MAX) doubt(StraceDoubt::cut_name);
  return true;
}

bool StraceReader::fill(char letter, std::string_view text, SystemCall& call) {
  switch (letter) {
    case 'f':
      return strace_descriptor(text, call.fd, call.fd_path);
    case 'F':
      return strace_descriptor(text, call.fd2, call.fd2_path);
    case 'd':
      return strace_descriptor(text, call.dir, call.dir_path);
    case 'D':
      return strace_descriptor(text, call.dir2, call.dir2_path);
    case 'p':
      if (!read_path(text, call.path)) no_path_ = true;
      return true;
    case 'P':
      if (!read_path(text, call.path2)) no_path_ = true;
      return true;
    case 't': {
      bool cut = false;
      if (!strace_string(text, call.text, cut)) no_path_ = true;
      if (cut && call.text.size() + 1 < PATH_MAX) doubt(StraceDoubt::cut_name);
      // The beginning of an attribute's name is another name.
      if (cut && call.call != Call::symlink) no_path_ = true;
      return true;
    }
    case 'g':
      // Of descriptors that are no files only O_CLOEXEC is of interest.
      if (call.call == Call::new_descriptor || call.call == Call::new_pair) {
        call.flags |= strace_value(text).value_or(0);
      } else {
        call.flags |= value(text);
      }
      return true;
    case 'm':
      call.mode = value(text);
      return true;
    case 'o':
      call.offset = value(text);
      return true;
    case 'O':
      call.offset2 = value(text);
      return true;
    case 'i':
      if (text.starts_with('[')) call.offset = value(text.substr(1));
      return true;
    case 'I':
      if (text.starts_with('[')) call.offset2 = value(text.substr(1));
      return true;
    case 'l':
      call.length = value(text);
      return true;
    case 'v':
      call.length = sum_of_buffers(text);
      return true;
    case 'a':
      call.address = value(text);
      return true;
    case 's':
      read_stat(text, call);
      return true;
    default:
      return true;
  }
}

bool StraceReader::fill(const StraceCall& call) {
  static const SystemCall kFresh;
  count_ = 1;
  SystemCall& made = calls_[0];
  made = kFresh;  // keeps the memory of its strings
  made.call = call.call;
  made.name = call.name;
  made.flags = call.flags;
  no_path_ = false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string_view text = arguments_[i];
    // What is not there yet, or is left out where it means nothing (the mode of an open).
    if (i >= arguments_.count()) {
      if (call.arguments[i] == 'p' || call.arguments[i] == 'P') no_path_ = true;
      continue;
    }
    if (!fill(call.arguments[i], text, made)) return false;
  }
  if (!beginning_) {
    made.result = result().value;
    if (succeeded() && descriptor_comes_back(made.call) && result().text.contains('<')) {
      int fd = 0;
      strace_descriptor(result().text, fd, made.result_path);
    }
  }
  return true;
}

StraceReader::Outcome StraceReader::outcome(bool filled, bool about_files) {
  if (!filled) return Outcome::torn;
  if (!about_files) return Outcome::no_file_call;
  // What fails for its pointer is counted with the others of its kind, also without its name.
  calls_[0].path_unread = no_path_ && !beginning_ && calls_[0].result == -EFAULT;
  return no_path_ && !calls_[0].path_unread ? Outcome::no_path : Outcome::read;
}

StraceReader::Outcome StraceReader::read(const StraceCall& call, std::string_view text) {
  beginning_ = false;
  count_ = 0;
  if (!arguments_.split(text)) return Outcome::torn;
  const bool ends_thread = call.call == Call::exit || call.call == Call::exit_group;
  const bool interrupted = result().text.starts_with("? ERESTART");
  if (result().kind == StraceResult::Kind::unknown && !ends_thread && !interrupted) {
    return Outcome::cut_off;
  }
  const bool filled = fill(call);
  if (interrupted) calls_[0].result = -EINTR;
  return outcome(filled, call.finish == nullptr || call.finish(*this, calls_[0]));
}

StraceReader::Outcome StraceReader::read_beginning(const StraceCall& call, std::string_view text) {
  beginning_ = true;
  arguments_.split(text);
  const bool filled = fill(call);
  return outcome(filled, call.finish == nullptr || call.finish(*this, calls_[0]));
}

}  // namespace filereel
