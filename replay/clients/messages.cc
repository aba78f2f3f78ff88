#include "replay/clients/messages.h"

#include <string>
#include <string_view>

#include <boost/filesystem.hpp>
#include <dlfcn.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

#ifdef FILEREEL_MPI_LIBRARY
constexpr const char* kMpiLibrary = FILEREEL_MPI_LIBRARY;
#else
constexpr const char* kMpiLibrary = "";  // there is no module
#endif

// Beside the executable in a build, otherwise where it is installed.
std::string module_path() {
  boost::system::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (here / FILEREEL_MODULE_FOLDER).lexically_normal();
  for (const fs::path& folder : {here, installed}) {
    const fs::path path = folder / kMpiModule;
    if (path_exists(path.string())) return path.string();
  }
  throw_failed(fmt::format(
      "cannot find {}, filereel's part for MPI, in {} or {}; copy it there, or start the filereel "
      "that it was installed with",
      kMpiModule, printable(here.string()), printable(installed.string())));
}

}  // namespace

std::unique_ptr<Messages> start_messages() {
  if (std::string_view(kMpiLibrary).empty()) {
    throw_failed(
        "this filereel was built without MPI: install libopenmpi-dev, or another MPI, and build "
        "it again");
  }
  const std::string path = module_path();
  // The module and modules of MPI itself need its symbols. Never unloaded: MPI registers functions
  // for the exit.
  constexpr int kHow = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE;
  void* const module = dlopen(kMpiLibrary, kHow) ? dlopen(path.c_str(), kHow) : nullptr;
  if (!module) {
    const char* const text = dlerror();
    throw_failed(fmt::format("cannot load MPI: {}; install it (package openmpi-bin)",
                             missing_library(text ? text : "")));
  }
  const auto start = reinterpret_cast<StartMpi*>(dlsym(module, kStartMpi));
  if (!start) throw_failed(fmt::format("{} is of another version of filereel", path));
  return std::unique_ptr<Messages>(start());
}

}  // namespace filereel
