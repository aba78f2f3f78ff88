// Runs all fuzz targets over their kept samples, and over inputs that are made of these in a way
// that never changes, so that the same program passes every time:
//   fuzz_corpus CORPUS [TARGET]    CORPUS/TARGET/* are a target's samples
// It prints each input's name before it runs it. What fails ends the program, by a signal or a
// sanitizer's report; the input lies in fuzz_corpus.failed then, in the current directory.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include <boost/filesystem.hpp>

#include "tests/fuzz/fuzz_target.h"

namespace {

namespace fs = boost::filesystem;

constexpr int kVariants = 40;  // of each sample
constexpr const char* kInputFile = "fuzz_corpus.failed";

struct Sample {
  std::string name, bytes;
};

std::vector<Sample> samples_in(const fs::path& folder) {
  std::vector<Sample> samples;
  if (!fs::is_directory(folder)) return samples;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path().string(), std::ios::binary);
    samples.push_back({entry.path().filename().string(), {std::istreambuf_iterator<char>(in), {}}});
  }
  std::ranges::sort(samples, {}, &Sample::name);
  return samples;
}

// Makes other inputs of samples.
class Mutation {
 public:
  Mutation(const std::vector<Sample>& samples, std::size_t seed)
      : samples_(samples), random_(seed) {}

  std::string of(std::string bytes) {
    for (std::size_t left = 1 + below(4); left > 0; --left) change(bytes);
    return bytes;
  }

 private:
  // Not a distribution of the library, which differs between libraries.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(std::string& bytes) {
    constexpr std::string_view kTokens[] = {"0",
                                            "-1",
                                            "18446744073709551615",
                                            "\n",
                                            "{",
                                            "}",
                                            "[",
                                            "\xff\xff\xff\xff",
                                            "\"",
                                            ":",
                                            " ",
                                            "..",
                                            "/",
                                            "1e999"};
    const std::size_t at = below(bytes.size()), length = below(bytes.size() - at);
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random_());
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      case 4:
        bytes.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      default: {
        const std::string& other = samples_[below(samples_.size())].bytes;
        bytes = bytes.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }

  const std::vector<Sample>& samples_;
  std::mt19937_64 random_;
};

void run(const FuzzTarget& target, const std::string& name, const std::string& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  std::ofstream(kInputFile, std::ios::binary | std::ios::trunc) << bytes;
  target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

// How many inputs it was.
int run_all(const FuzzTarget& target, const std::vector<Sample>& samples) {
  int inputs = 0;
  for (const Sample& sample : samples) {
    const std::string name = std::string(target.name) + "/" + sample.name;
    run(target, name, sample.bytes);
    Mutation mutation(samples, sample.bytes.size());
    for (int i = 1; i <= kVariants; ++i) {
      run(target, name + " " + std::to_string(i), mutation.of(sample.bytes));
    }
    inputs += 1 + kVariants;
  }
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: fuzz_corpus CORPUS [TARGET]\n", stderr);
    return 2;
  }
  int inputs = 0;
  std::vector<FuzzTarget> targets = fuzz_targets();
  std::ranges::sort(targets, [](auto& a, auto& b) { return std::strcmp(a.name, b.name) < 0; });
  for (const FuzzTarget& target : targets) {
    if (argc > 2 && std::strcmp(argv[2], target.name) != 0) continue;
    const std::vector<Sample> samples = samples_in(fs::path(argv[1]) / target.name);
    if (samples.empty()) {
      std::fprintf(stderr, "%s has no samples in %s\n", target.name, argv[1]);
      return 1;
    }
    inputs += run_all(target, samples);
  }
  fs::remove(kInputFile);
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
