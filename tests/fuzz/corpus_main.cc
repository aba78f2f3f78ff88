// Runs a fuzz target once over every file below the folders named on the command line. A finding
// shows itself as in libFuzzer: by a crash or a sanitizer report.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <boost/filesystem.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : boost::filesystem::recursive_directory_iterator(argv[i])) {
      if (!boost::filesystem::is_regular_file(entry.path())) continue;
      std::ifstream in(entry.path().string(), std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%d samples\n", files);
  return files > 0 ? 0 : 1;  // an empty corpus tests nothing
}
