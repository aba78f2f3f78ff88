// How fast reels are read and written, on the operations of an extraction, and what they cost in
// bytes, column by column.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/filesystem.hpp>

#include "tests/traces/reel_samples.h"
#include "traces/reel/operation_block.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/reel_reader.h"
#include "traces/reel/reel_writer.h"

namespace {

using filereel::RecordedOperation;

constexpr std::uint32_t kFiles = 24'000;
constexpr filereel::ReelWriterOptions kOptions{.compression = 11, .time_unit_ns = 1000};

const SampleTrace& extraction() {
  static const SampleTrace* const sample = [] {
    auto* made = new SampleTrace;
    fill_extraction(*made, kFiles);
    return made;
  }();
  return *sample;
}

std::string reel_of(const SampleTrace& sample, const filereel::ReelWriterOptions& options) {
  const auto path = boost::filesystem::temp_directory_path() /
                    boost::filesystem::unique_path("filereel-bench-%%%%-%%%%.reel");
  filereel::ReelWriter writer(path.string(), sample.tables, options);
  for (const RecordedOperation& operation : sample.operations) writer.add(operation);
  writer.finish(sample.info, sample.trees);
  std::ifstream in(path.string(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  boost::filesystem::remove(path);
  return bytes;
}

void report_operations(benchmark::State& state, std::size_t operations) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(operations));
}

void decode(benchmark::State& state) {
  const SampleTrace& sample = extraction();
  const std::string bytes = reel_of(sample, kOptions);
  filereel::ReelReader reader(std::as_bytes(std::span(bytes)), "x.reel");
  std::vector<RecordedOperation> some(4096);
  for (auto _ : state) {
    reader.rewind();
    while (reader.next(some) > 0) benchmark::ClobberMemory();
  }
  report_operations(state, sample.operations.size());
  state.counters["bytes_per_operation"] =
      static_cast<double>(bytes.size()) / static_cast<double>(sample.operations.size());
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

void open_reel(benchmark::State& state) {
  const std::string bytes = reel_of(extraction(), kOptions);
  for (auto _ : state) {
    const filereel::ReelReader reader(std::as_bytes(std::span(bytes)), "x.reel");
    std::uint64_t operations = reader.info().operations;
    benchmark::DoNotOptimize(operations);
  }
}
BENCHMARK(open_reel)->Unit(benchmark::kMillisecond);

void encode(benchmark::State& state) {
  const SampleTrace& sample = extraction();
  const auto level = static_cast<int>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(reel_of(sample, {.compression = level, .time_unit_ns = 1000}));
  }
  report_operations(state, sample.operations.size());
}
BENCHMARK(encode)->Arg(4)->Arg(11)->Unit(benchmark::kMillisecond);

// Bytes for each operation, by column.
void columns(benchmark::State& state) {
  using filereel::Column, filereel::OperationBlockWriter;
  std::vector<RecordedOperation> operations = extraction().operations;
  for (RecordedOperation& recorded : operations) {
    recorded.start_ns /= 1000;
    recorded.duration_ns /= 1000;
  }
  filereel::Packer packer(kOptions.compression);
  OperationBlockWriter writer(packer);
  std::size_t passes = 0;
  for (auto _ : state) {
    for (std::span left(operations); !left.empty();) {
      const std::size_t count = std::min<std::size_t>(left.size(), filereel::kBlockOperations);
      benchmark::DoNotOptimize(writer.write(left.first(count)));
      left = left.subspan(count);
    }
    ++passes;
  }
  const auto report = [&](const char* name, std::size_t column) {
    state.counters[name] = static_cast<double>(writer.column_bytes()[column]) /
                           static_cast<double>(passes * operations.size());
  };
  report("kinds", OperationBlockWriter::kKinds);
  report("length", static_cast<std::size_t>(Column::length));
  report("file", static_cast<std::size_t>(Column::file));
  report("path", static_cast<std::size_t>(Column::path));
  report("offset", static_cast<std::size_t>(Column::offset));
  report("second", static_cast<std::size_t>(Column::second));
  report("entry", static_cast<std::size_t>(Column::entry));
  report("gap", static_cast<std::size_t>(Column::gap));
  report("duration", static_cast<std::size_t>(Column::duration));
}
BENCHMARK(columns)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
