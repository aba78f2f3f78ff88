#include "replay/clients/messages.h"

#include <boost/filesystem.hpp>
#include <dlfcn.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/path_kind.h"
#include "replay/clients/missing_library.h"
#include "replay/clients/mpi_module.h"

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
  for (const char* folder : {".", FILEREEL_MODULE_FOLDER}) {
    const fs::path path = here / folder / kMpiModule;
    if (path_exists(path.string())) return path.string();
  }
  return "";
}

}  // namespace

std::unique_ptr<Messages> start_messages() {
  const std::string path = module_path();
  if (path.empty()) {
    throw_failed(
        "this filereel was built without MPI: install libopenmpi-dev, or another MPI, and build "
        "it again");
  }
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
