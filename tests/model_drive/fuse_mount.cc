#include "tests/model_drive/fuse_mount.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#define FUSE_USE_VERSION 314
#include <boost/filesystem/operations.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "tests/model_drive/prompt_thread.h"

namespace filereel::model_drive {
namespace {

constexpr fuse_ino_t kFile = 2;  // FUSE_ROOT_ID is the folder
constexpr const char* kFileName = "drive";
constexpr double kForEver = 1e9;  // seconds
constexpr unsigned kMostInFlight = 4096;
// Each takes requests and copies what is written: so one can be read while another is copied.
constexpr int kThreads = 3;

Drive& drive_of(fuse_req_t request) {
  return *static_cast<Drive*>(fuse_req_userdata(request));
}

struct stat attributes(fuse_req_t request, fuse_ino_t inode) {
  struct stat found{};
  found.st_ino = inode;
  found.st_mode = inode == kFile ? S_IFREG | 0600 : S_IFDIR | 0700;
  found.st_nlink = inode == kFile ? 1 : 2;
  found.st_uid = getuid();
  found.st_gid = getgid();
  if (inode == kFile) {
    found.st_size = static_cast<off_t>(drive_of(request).content().size());
    found.st_blocks = found.st_size / 512;
    found.st_blksize = kBlock;
  }
  return found;
}

void on_init(void*, fuse_conn_info* connection) {
  connection->max_write = kMiB;
  connection->max_background = kMostInFlight;
  connection->congestion_threshold = kMostInFlight;
  connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
  connection->want &=
      ~unsigned{FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE};
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (parent != FUSE_ROOT_ID || std::string_view(name) != kFileName) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = kFile;
  entry.attr = attributes(request, kFile);
  entry.attr_timeout = entry.entry_timeout = kForEver;
  fuse_reply_entry(request, &entry);
}

void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  const struct stat found = attributes(request, inode);
  fuse_reply_attr(request, &found, kForEver);
}

void on_readdir(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info*) {
  char buffer[256];
  size_t used = 0;
  if (offset == 0) {
    const struct stat found = attributes(request, kFile);
    used = fuse_add_direntry(request, buffer, sizeof buffer, kFileName, &found, 1);
  }
  fuse_reply_buf(request, buffer, std::min(used, size));
}

void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
  if (inode != kFile) {
    fuse_reply_err(request, EISDIR);
    return;
  }
  file->direct_io = 1;
  file->noflush = 1;
  fuse_reply_open(request, file);
}

// The loop driver takes the block size for the smallest discard.
void on_statfs(fuse_req_t request, fuse_ino_t) {
  struct statvfs found{};
  found.f_bsize = found.f_frsize = kBlock;
  found.f_blocks = drive_of(request).content().size() / kBlock;
  found.f_namemax = 255;
  fuse_reply_statfs(request, &found);
}

// Whether the range lies on the drive; its end is an error, as on one.
bool lies_within(fuse_req_t request, off_t offset, std::uint64_t length) {
  const std::uint64_t size = drive_of(request).content().size();
  return offset >= 0 && static_cast<std::uint64_t>(offset) <= size &&
         length <= size - static_cast<std::uint64_t>(offset);
}

void on_read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info*) {
  Drive& drive = drive_of(request);
  const std::uint64_t from =
      std::min(static_cast<std::uint64_t>(std::max<off_t>(offset, 0)), drive.content().size());
  const std::uint64_t length = std::min<std::uint64_t>(size, drive.content().size() - from);
  if (length == 0) {
    fuse_reply_buf(request, nullptr, 0);
    return;
  }
  drive.end(drive.begin(Kind::read, from, length), [request, &drive, from, length] {
    fuse_reply_buf(request, drive.content().read(from, length).data(), length);
  });
}

void on_write(fuse_req_t request, fuse_ino_t, const char* bytes, size_t size, off_t offset,
              fuse_file_info*) {
  if (!lies_within(request, offset, size)) {
    fuse_reply_err(request, ENOSPC);
    return;
  }
  Drive& drive = drive_of(request);
  const auto from = static_cast<std::uint64_t>(offset);
  const Service service = drive.begin(Kind::write, from, size);
  drive.content().write(from, {bytes, size});
  drive.end(service, [request, size] { fuse_reply_write(request, size); });
}

void on_fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
  Drive& drive = drive_of(request);
  drive.end(drive.begin(Kind::flush, 0, 0), [request] { fuse_reply_err(request, 0); });
}

// The loop driver's discards, and its writes of zeros.
void on_fallocate(fuse_req_t request, fuse_ino_t, int mode, off_t offset, off_t length,
                  fuse_file_info*) {
  if ((mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) == 0) {
    fuse_reply_err(request, EOPNOTSUPP);
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(length);
  if (length < 0 || !lies_within(request, offset, bytes)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  Drive& drive = drive_of(request);
  const auto from = static_cast<std::uint64_t>(offset);
  const Service service = drive.begin(Kind::discard, from, bytes);
  drive.content().discard(from, bytes);
  drive.end(service, [request] { fuse_reply_err(request, 0); });
}

// No exception may pass through libfuse: the request fails.
template <auto kCallback, typename... Arguments>
void contained(fuse_req_t request, Arguments... arguments) noexcept {
  try {
    kCallback(request, arguments...);
  } catch (const std::exception&) {
    fuse_reply_err(request, ENOMEM);
  }
}

constexpr fuse_lowlevel_ops kOperations = [] {
  fuse_lowlevel_ops operations{};
  operations.init = on_init;
  operations.lookup = contained<on_lookup>;
  operations.getattr = contained<on_getattr>;
  operations.open = contained<on_open>;
  operations.read = contained<on_read>;
  operations.write = contained<on_write>;
  operations.fsync = contained<on_fsync>;
  operations.readdir = contained<on_readdir>;
  operations.statfs = contained<on_statfs>;
  operations.fallocate = contained<on_fallocate>;
  return operations;
}();

// libfuse prints what is wrong line by line; here it becomes part of one message.
thread_local std::string library_messages;

void keep_message(fuse_log_level, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  try {
    if (library_messages.size() < sizeof text) library_messages += text;
  } catch (const std::bad_alloc&) {
    return;  // without this message
  }
}

void check_folder(const std::string& folder) {
  boost::system::error_code error;
  const bool is_empty =
      boost::filesystem::is_directory(folder, error) && boost::filesystem::is_empty(folder, error);
  if (error || !is_empty) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: not an empty folder; name one to mount the drive on",
                            printable_line(folder)));
  }
}

void ignore_signal(int) {}

// SIGUSR2 interrupts a read of the threads that have it unblocked, and does nothing else.
void catch_wake_up() {
  struct sigaction action{};
  action.sa_handler = ignore_signal;
  sigaction(SIGUSR2, &action, nullptr);
}

void unblock_wake_up() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

void FuseMount::Close::operator()(fuse_session* session) const {
  fuse_session_destroy(session);
}

FuseMount::FuseMount(Drive& drive, const std::string& folder) : drive_(drive) {
  check_folder(folder);
  catch_wake_up();
  fuse_set_log_func(keep_message);
  const char* words[] = {"model_drive", "-o", "fsname=model_drive,subtype=model_drive"};
  fuse_args arguments = FUSE_ARGS_INIT(3, const_cast<char**>(words));
  session_.reset(fuse_session_new(&arguments, &kOperations, sizeof kOperations, &drive));
  fuse_opt_free_args(&arguments);
  if (!session_ || fuse_session_mount(session_.get(), folder.c_str()) != 0) {
    throw_failed(fmt::format("{}: FUSE does not mount here: {}; be root, and load the module fuse",
                             printable_line(folder), printable(library_messages)));
  }
  serving_ = kThreads;
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { serve(); });
}

FuseMount::~FuseMount() {
  drive_.finish();
  ending_ = true;
  // From now on a thread sees when no request is left, and those that wait for one are woken.
  const int device = fuse_session_fd(session_.get());
  fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK);
  while (serving_ > 0) {  // a signal just before a read would be lost
    for (std::thread& thread : threads_) pthread_kill(thread.native_handle(), SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& thread : threads_) thread.join();
  fuse_session_unmount(session_.get());
}

void FuseMount::serve() {
  be_prompt();
  unblock_wake_up();
  fuse_buf buffer{};
  // At the end it takes what waits by then, but not for ever what somebody goes on asking for.
  for (unsigned left = kMostInFlight; left > 0; left -= ending_ ? 1 : 0) {
    const int got = fuse_session_receive_buf(session_.get(), &buffer);
    if (got == -EINTR) continue;
    if (got <= 0 || fuse_session_exited(session_.get()) != 0) break;
    fuse_session_process_buf(session_.get(), &buffer);
  }
  std::free(buffer.mem);
  --serving_;
  if (!ending_) kill(getpid(), SIGTERM);  // unmounted by somebody else
}

}  // namespace filereel::model_drive
