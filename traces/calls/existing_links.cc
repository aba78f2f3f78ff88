#include "traces/calls/existing_links.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "filesets/system/path_kind.h"
#include "traces/calls/path_resolution.h"

namespace filereel {
namespace {

constexpr std::uint64_t kClockTick = 10'000'000;  // file times have the resolution of a tick

}  // namespace

ExistingLinks::ExistingLinks(std::uint64_t since_ns, std::uint32_t process, TraceBuilder& builder)
    : since_ns_(since_ns),
      namespace_(fmt::format("/proc/{}/ns/mnt", process)),
      here_(link_text("/proc/self/ns/mnt")),
      builder_(&builder) {}

bool ExistingLinks::sees_what_is_recorded() {
  // It may have left the namespace or ended since.
  if (const std::string now = link_text(namespace_); !now.empty()) same_ = now == here_;
  return same_;
}

std::string ExistingLinks::operator()(const std::string& path) {
  struct stat status{};
  if (!names_file(path)) return {};
  if (!sees_what_is_recorded()) {
    builder_->approximated("symbolic links in another mount namespace not resolved");
    return {};
  }
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
  const std::uint64_t changed_ns =
      static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(status.st_ctim.tv_nsec);
  if (changed_ns + kClockTick > since_ns_) return {};
  return link_text(path);
}

}  // namespace filereel
