#include "filesets/ownership/fallback_places.h"

#include <utility>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include "filesets/ownership/state_directory.h"
#include "filesets/system/error.h"

namespace filereel {
namespace {

constexpr int kStep = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kWhole = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

std::optional<FallbackPlace> nearest_existing(const std::string& path) {
  FallbackPlace place{.path = "/", .directory = Descriptor(open("/", kStep))};
  for (const boost::filesystem::path& name : boost::filesystem::path(path).relative_path()) {
    Descriptor next(openat(place.directory.get(), name.c_str(), kStep));
    if (!next) break;
    if (place.path.size() > 1) place.path += '/';
    place.path += name.string();
    place.directory = std::move(next);
  }
  place.directory.reset(openat(place.directory.get(), ".", kWhole));
  if (!place.directory) return std::nullopt;
  return place;
}

std::optional<FallbackPlace> kept_in_state_directory() try {
  const StateDirectory state = open_state_directory();
  mkdirat(state.directory.get(), "kept", 0700);
  FallbackPlace place{.path = state.path + "/kept",
                      .directory = Descriptor(openat(state.directory.get(), "kept", kWhole))};
  if (!place.directory) return std::nullopt;
  return place;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace filereel
