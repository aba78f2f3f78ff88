#include "filesets/ownership/state_directory.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/path_kind.h"
#include "filesets/system/root_user.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr std::string_view kOther = "set FILEREEL_STATE_DIR to a directory of your own";

std::string environment(const char* name) {
  const char* const value = getenv(name);
  return value ? value : "";
}

// False in the user namespace that filereel enters to mount without privileges, although its user
// is called root there, too. user_namespaces(7)
bool is_root_of_the_machine() {
  std::uint64_t inside = 1, outside = 1;
  std::ifstream("/proc/self/uid_map") >> inside >> outside;
  return is_root() && inside == 0 && outside == 0;
}

std::string chosen_path() {
  if (const std::string path = environment("FILEREEL_STATE_DIR"); !path.empty()) return path;
  if (is_root_of_the_machine()) return "/var/lib/filereel";
  if (const std::string path = environment("XDG_STATE_HOME"); path.starts_with('/')) {
    return path + "/filereel";
  }
  if (const std::string home = environment("HOME"); home.starts_with('/')) {
    return home + "/.local/state/filereel";
  }
  throw_failed(fmt::format("no state directory: HOME is not set; {}", kOther));
}

}  // namespace

StateDirectory open_state_directory() {
  StateDirectory state;
  state.path = absolute_path(chosen_path());
  while (state.path.size() > 1 && state.path.back() == '/') state.path.pop_back();
  make_directories(fs::path(state.path).parent_path().string());
  mkdir(state.path.c_str(), 0700);
  state.directory.reset(open(state.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!state.directory) {
    throw_failed(fmt::format("cannot open the state directory {}: {}", state.path,
                             error_text(errno, kOther)));
  }
  struct stat info{};
  if (fstat(state.directory.get(), &info) != 0 || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw_failed(fmt::format("the state directory {} is owned or writable by another user; {}",
                             state.path, kOther));
  }
  return state;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number)) return number;
  const Descriptor device(
      open("/dev/urandom", O_RDONLY | O_CLOEXEC));  // a policy may deny the call
  if (!device ||
      read(device.get(), &number, sizeof number) != static_cast<ssize_t>(sizeof number)) {
    throw_failed(
        fmt::format("cannot get random numbers: a policy denies getrandom here, and "
                    "/dev/urandom cannot be read: {}; allow one of them",
                    strerror(errno)));
  }
  return number;
}

std::string random_name() {
  return fmt::format("{:016x}{:016x}", random_number(), random_number());
}

}  // namespace filereel
