// A result with something in every member, for the tests of its JSON form and of the table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "replay/results/packed.h"
#include "replay/results/result.h"
#include "replay/volumes/network_share.h"

inline filereel::Sample sample_of(std::uint32_t run, double elapsed_s, double durable_s,
                                  std::uint64_t bytes, std::uint64_t files) {
  filereel::Sample sample;
  sample.run = run;
  sample.elapsed_s = elapsed_s;
  sample.durable_s = durable_s;
  sample.bytes = bytes;
  sample.files = files;
  sample.operations = 3 * files;
  sample.cold_method = "remount";
  sample.cached_before = 0.25;
  return sample;
}

inline filereel::Measurement measurement_of(const std::string& set, const std::string& operation,
                                            const std::string& file_system,
                                            const std::string& driver) {
  filereel::Measurement measurement;
  measurement.workload = "fc-test";
  measurement.set = set;
  measurement.operation = operation;
  measurement.file_system = file_system;
  measurement.driver = driver;
  return measurement;
}

inline filereel::VolumeDescription volume_of(filereel::Role role, const std::string& file_system,
                                             const std::string& driver) {
  filereel::VolumeDescription volume;
  volume.role = role;
  volume.target = role == filereel::Role::near ? "/dev/sdb1" : "image:far.img";
  volume.target_kind = role == filereel::Role::near ? "block device" : "image";
  volume.file_system = file_system;
  volume.driver = driver;
  volume.mount_options = "rw,relatime";
  volume.age = "fresh";
  volume.size = 64'000'000'000;
  if (role == filereel::Role::near) {
    volume.drives = {{"sdb", "Fast Disk 3", "S123", "1.07", "sata", 128'000'000'000, false,
                      "mq-deadline", "write back", 512, 4096, 64, 128}};
    volume.layers = {"sdb1 (partition)"};
  }
  return volume;
}

// A directory on a share.
inline filereel::VolumeDescription network_volume() {
  filereel::VolumeDescription volume;
  volume.target = "/mnt/nas/test";
  volume.target_kind = "directory";
  volume.file_system = "nfs4";
  volume.driver = "kernel";
  volume.mount_options =
      "rw,relatime,rw,vers=4.2,proto=tcp,clientaddr=192.168.7.21,addr=192.168.7.9";
  volume.age = "used";
  volume.size = 64'000'000'000;
  volume.network = {"nfs 4.2", "tcp", "nas.example.org:/data", "nas.example.org", "192.168.7.9",
                    "eth0",    1000};
  volume.layers = filereel::share_layers(*volume.network);
  return volume;
}

// Of which nothing but its beginning is known.
inline filereel::Result begun_result() {
  filereel::Result result;
  result.version = "0.1.0";
  result.started = "2024-02-29T12:00:00Z";
  result.host = {"A Processor @ 3.00GHz", 8, 16'000'000'000, "6.1.0-test", "performance", "tsc"};
  return result;
}

inline filereel::Result sample_result() {
  using namespace filereel;
  Result result = begun_result();
  result.plan.name = "fc-test";
  result.plan.file_systems = {"ext4", "ntfs"};
  result.plan.runs = 3;
  result.plan.jobs = {
      {.kind = JobKind::fc_test,
       .name = "fc-test",
       .scale = 0.5,
       .settings = {{"block_size", "64 KiB"}, {"copy_method", "sendfile"}, {"threads", "2"}},
       .overhead_ns = 123.4,
       .axes = {}}};
  result.volumes = {volume_of(Role::near, "ext4", "kernel"), volume_of(Role::far, "ext4", "kernel"),
                    volume_of(Role::near, "ntfs", "ntfs-3g")};
  result.complete = true;
  result.warnings = {{"fuse-driver", "ntfs was served by ntfs-3g", "use another kernel"},
                     {"not-cold", "part of it was cached", "run as root"}};
  result.escaped_names = {{"ntfs", "m\u00fcsic", {{"a:b", "a%3Ab"}, {"c?", "c%3F"}}}};

  Measurement create = measurement_of("iso", "create", "ext4", "kernel");
  create.samples = {sample_of(1, 1.0, 2.0, 800'000'000, 3), sample_of(2, 0.5, 4.0, 800'000'000, 3),
                    sample_of(3, 0.8, 2.5, 800'000'000, 3)};
  Sample& first = create.samples[0];
  first.cpu_user_s = 0.125;
  first.cpu_system_s = 0.5;
  first.cpu_driver_s = 0.0625;
  first.device_bytes_read = 4096;
  first.device_bytes_written = 801'000'000;
  LatencySummary writes;
  writes.count = 12207;
  writes.errors = 1;
  writes.bytes = 800'000'000;
  writes.p50_us = 10.5;
  writes.p90_us = 20.5;
  writes.p95_us = 25.5;
  writes.p99_us = 40;
  writes.p999_us = 300;
  writes.p9999_us = 4000;
  writes.max_us = 5000.25;
  writes.total_us = 150'000;
  first.latency = {{"write", writes}, {"open", {}}};

  Measurement copy = measurement_of("m\u00fcsic", "copy-far", "ext4", "kernel");
  copy.samples = {sample_of(1, 0.001, 0.002, 495'000'000, 136)};
  copy.samples[0].moved_no_data = true;
  copy.samples[0].cached_before.reset();

  Measurement remove = measurement_of("iso", "delete", "ext4", "kernel");
  remove.samples = {sample_of(1, 0.01, 0.02, 0, 3)};

  Measurement failed = measurement_of("iso", "create", "ntfs", "ntfs-3g");
  failed.samples = {sample_of(1, 1, 2, 400'000'000, 1)};
  failed.samples[0].divergences = 1;
  failed.samples[0].examples = {{17, 1, "write", "original/a:b", 65536, -28}};

  result.measurements = {std::move(create), std::move(copy), std::move(remove), std::move(failed)};
  return result;
}

// The same for a replay of a recorded trace.
inline filereel::Result sample_replay() {
  using namespace filereel;
  Result result = begun_result();
  result.plan.name = "app.reel";
  result.plan.runs = 3;
  result.plan.jobs = {{.kind = JobKind::trace,
                       .name = "app",
                       .warm = true,
                       .settings = {},
                       .overhead_ns = 210,
                       .axes = {}}};
  result.plan.work = {{.job = "app",
                       .file = "app.reel",
                       .description = "An app",
                       .does = {"5000 operations by 4 threads on 20 files"}}};
  result.volumes = {volume_of(Role::near, "ext4", "kernel")};
  result.complete = true;
  result.warnings = {{"trace-lost", "not in the trace: lost events (7)", "record it again"}};

  Measurement measurement = measurement_of("", "replay", "ext4", "kernel");
  measurement.kind = JobKind::trace;
  measurement.workload = "app";
  measurement.work_digest = "0123456789abcdef";
  measurement.replay = {.order = "resource",
                        .pace = "2x",
                        .engine = "io_uring",
                        .verify = "tree",
                        .depth = 8,
                        .clients = 2,
                        .recorded_s = 12.5};
  measurement.samples = {sample_of(1, 2.0, 2.5, 30'000'000, 0),
                         sample_of(2, 1.0, 1.5, 30'000'000, 0),
                         sample_of(3, 3.0, 4.0, 30'000'000, 0)};
  for (Sample& sample : measurement.samples) {
    sample.operations = 5000;
    sample.divergences = 3;
    sample.examples = {{1234, 3, "rename", "a/b\n", 0, -2, "mismatch"},
                       {1300, 3, "read", "a/b", 4096, 100, "consequence"}};
    LatencySummary reads;
    reads.count = 4000;
    reads.errors = 2;
    reads.bytes = 20'000'000;
    reads.p50_us = 1.5;
    reads.p99_us = 250;
    reads.p999_us = 1000;
    reads.max_us = 40'000;
    LatencySummary renames;
    renames.count = 1000;
    renames.p50_us = 12;
    Histogram read_times, rename_times;
    for (std::uint64_t i = 1; i <= 4000; ++i) read_times.record(i * 10'000);
    for (int i = 0; i < 1000; ++i) rename_times.record(12'000);
    reads.total_us = static_cast<double>(read_times.total()) / 1e3;
    renames.total_us = static_cast<double>(rename_times.total()) / 1e3;
    renames.max_us = 12;
    renames.histogram = pack_histogram(rename_times);
    reads.sizes = {{4096, 40'000, reads.total_us, pack_histogram(read_times)}};
    sample.latency = {{"read", reads}, {"rename", renames}};
    sample.service = {{"rename", renames}};
    ReelSample& reel = sample.reel.emplace();
    reel.bytes_read = 20'000'000;
    reel.bytes_written = 9'000'000;
    reel.bytes_copied = 1'000'000;
    reel.divergences = {{"mismatch", 2}, {"consequence", 1}};
    reel.unverified = 11;
    reel.refused = 4;
    reel.refusals = {{"owners", 3}, {"device nodes", 1}};
    reel.waits = 77;
    reel.lateness.emplace().count = 5000;
    reel.lateness->p50_us = 3;
    reel.lateness->p99_us = 60;
    reel.lateness->max_us = 900;
    sample.slowest = {{"read", "a/b", 8192, 4096, 3, 0.25, 40'000, 39'000, 1234},
                      {"rename", "a/b", 0, 0, 0, 0.5, 900, {}, 17}};
    TimeGrid grid;
    grid.record(5'000'000, Histogram::bucket(2'500), 10'000'000, false);
    grid.record(15'000'000, Histogram::bucket(1'250), 20'000'000, true);
    sample.course = pack_course(grid);
    TreeComparison& tree = sample.tree.emplace();
    tree.entries = 40;
    tree.differences = 1;
    tree.left_out = 2;
    tree.examples = {{"a/c", "has 5 bytes instead of 10"}};
  }
  result.measurements = {std::move(measurement)};
  return result;
}

// The same for a workload that sweeps sizes and depths; the last point was not measured.
inline filereel::Result sample_sweep() {
  using namespace filereel;
  Result result = begun_result();
  result.plan.name = "reads.yaml";
  result.plan.file_systems = {"ext4"};
  result.plan.runs = 1;
  result.plan.jobs = {{.kind = JobKind::workload,
                       .name = "reads.yaml",
                       .settings = {{"time", "2.0 s"}},
                       .overhead_ns = 99,
                       .axes = {{"size", {"4 KiB", "1 MiB"}}, {"depth", {"1", "4", "16"}}}}};
  result.volumes = {volume_of(Role::near, "ext4", "kernel")};
  for (std::uint64_t point = 0; point < 5; ++point) {
    Measurement& measurement =
        result.measurements.emplace_back(measurement_of("", "read", "ext4", "kernel"));
    measurement.kind = JobKind::workload;
    measurement.workload = "reads.yaml";
    const std::uint64_t size = point < 3 ? 4096 : 1 << 20;
    measurement.parameters = {{"size", point < 3 ? "4 KiB" : "1 MiB"},
                              {"depth", result.plan.jobs[0].axes[1].values[point % 3]}};
    Sample& sample = measurement.samples.emplace_back(sample_of(1, 2, 2.5, 0, 0));
    sample.operations = 1000 * (point + 1);
    sample.bytes = size * sample.operations;
    LatencySummary& reads = sample.latency["read"];
    reads.count = sample.operations;
    reads.bytes = sample.bytes;
    reads.p50_us = 12.5 * static_cast<double>(point + 1);
    reads.p99_us = 250;
  }
  return result;
}
