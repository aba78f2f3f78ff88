#include "replay/volumes/own_directory.h"

#include <chrono>
#include <thread>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/lost_directory.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr const char* kCommon = "shared";  // the directory of all clients

std::string name_of(std::uint32_t client) {
  return fmt::format("client-{}", client);
}

// Does not follow a symbolic link, unless the user named it.
Descriptor open_directory(int parent, const std::string& path) {
  const int follow = parent == AT_FDCWD ? 0 : O_NOFOLLOW;
  return Descriptor(openat(parent, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
}

// `path` need not exist.
std::string directory_above(const std::string& path) {
  return fs::path(full_path(path)).parent_path().string();
}

}  // namespace

OwnDirectory::OwnDirectory(const std::string& path, const std::optional<ClientPlace>& place)
    : path_(path), client_place_(place), client_(place ? place->client : 0) {
  if (client_ == 0) {
    work_.emplace(path, WorkDirectory::Use::volume);
  } else {
    above_ = open_directory(AT_FDCWD, existing_path(path));
  }
}

void OwnDirectory::take() {
  if (work_) work_->take();
  if (!client_place_) return;
  all_name_ = client_place_->text_of_first(work_ ? work_->name() : "");
  find_all();
  make(name_of(client_));
  enter(client_);
}

// Opens the directory of the first client. Network file systems remember for a while that a target
// did not exist: NFS until the directory above it is opened, SMB for a second.
void OwnDirectory::find_all() {
  using namespace std::chrono_literals;
  constexpr auto kPatience = 3s;
  constexpr auto kPause = 100ms;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    open_directory(AT_FDCWD, directory_above(path_));
    if (const Descriptor target = open_directory(AT_FDCWD, path_)) {
      all_ = open_directory(target.get(), all_name_);
    }
    if (all_) return;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(kPause);
  }
  throw_failed(
      fmt::format("{} does not contain the directory of the first client, {}: all clients need the "
                  "same file system there",
                  printable(path_), all_name_));
}

void OwnDirectory::enter(std::optional<std::uint32_t> client) {
  if (!all_) return;
  if (!client && work_) make(kCommon);
  entered_ = open_directory(all_.get(), client ? name_of(*client) : kCommon);
  if (!entered_) fail("cannot open a client's directory in", errno);
}

void OwnDirectory::check_present() const {
  if (work_) return work_->check_present();
  require_present(all_.get(), absolute_path(path_) + "/" + all_name_, path_);
}

void OwnDirectory::clear() {
  if (!all_) return remove_contents(root(), path_);
  clear(name_of(client_));
  if (work_) clear(kCommon);
}

void OwnDirectory::keep() {
  if (work_) work_->keep();
}

void OwnDirectory::remove() {
  if (work_) work_->remove();
}

void OwnDirectory::make(const std::string& name) const {
  if (mkdirat(all_.get(), name.c_str(), 0700) == 0 || errno == EEXIST) return;
  fail("cannot create a client's directory in", errno);
}

void OwnDirectory::clear(const std::string& name) const {
  if (const Descriptor one = open_directory(all_.get(), name)) remove_contents(one.get(), path_);
}

void OwnDirectory::fail(const char* what, int error) const {
  throw_failed(fmt::format("{} {}: {}", what, printable(path_), error_text(error)));
}

}  // namespace filereel
