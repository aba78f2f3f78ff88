// Lists the members of results with their JSON names, in the order of writing. Reading, writing and
// the report use these lists. Parts that a list cannot express (names of enumerations, derived
// figures) are in result_json_read.cc and result_json_write.cc.
#pragma once

#include <array>
#include <concepts>
#include <tuple>
#include <type_traits>

#include "replay/results/result.h"

namespace filereel {

template <class Owner, class Type>
struct Member {
  const char* name;
  Type Owner::* place;
  bool left_out_if_empty = false;  // otherwise empty texts and lists are written
};

// A tuple of Member; nullptr for types without members.
template <class T>
inline constexpr auto kMembers = nullptr;

template <class T>
concept HasMembers = !std::same_as<decltype(kMembers<T>), decltype(kMembers<void>)>;

// Calls `visit(member, value of the member)` for each member.
template <class T, class Visit>
void for_each_member(T& value, const Visit& visit) {
  std::apply([&](const auto&... member) { (visit(member, value.*member.place), ...); },
             kMembers<std::remove_const_t<T>>);
}

// The percentile members of a latency of one kind of operation, for tables with a column for each.
inline constexpr std::array<Member<LatencySummary, double>, 7> kPercentiles = {{
    {"p50_us", &LatencySummary::p50_us},
    {"p90_us", &LatencySummary::p90_us},
    {"p95_us", &LatencySummary::p95_us},
    {"p99_us", &LatencySummary::p99_us},
    {"p99_9_us", &LatencySummary::p999_us},
    {"p99_99_us", &LatencySummary::p9999_us},
    {"max_us", &LatencySummary::max_us},
}};

template <>
inline constexpr auto kMembers<SizeLatency> = std::tuple{
    Member{"up_to", &SizeLatency::up_to}, Member{"max_us", &SizeLatency::max_us},
    Member{"total_us", &SizeLatency::total_us}, Member{"histogram", &SizeLatency::histogram}};

template <>
inline constexpr auto kMembers<LatencySummary> = std::tuple_cat(
    std::tuple{Member{"count", &LatencySummary::count}, Member{"errors", &LatencySummary::errors},
               Member{"bytes", &LatencySummary::bytes}},
    kPercentiles,
    std::tuple{Member{"total_us", &LatencySummary::total_us},
               Member{"histogram", &LatencySummary::histogram, true},
               Member{"sizes", &LatencySummary::sizes, true}});

template <>
inline constexpr auto kMembers<SlowRecord> = std::tuple{
    Member{"operation", &SlowRecord::operation},   Member{"path", &SlowRecord::path},
    Member{"offset", &SlowRecord::offset},         Member{"length", &SlowRecord::length},
    Member{"thread", &SlowRecord::thread},         Member{"at_s", &SlowRecord::at_s},
    Member{"latency_us", &SlowRecord::latency_us}, Member{"service_us", &SlowRecord::service_us},
    Member{"position", &SlowRecord::position}};

template <>
inline constexpr auto kMembers<Course> =
    std::tuple{Member{"interval_s", &Course::interval_s}, Member{"intervals", &Course::intervals},
               Member{"operations", &Course::operations}, Member{"bytes", &Course::bytes},
               Member{"syncs", &Course::syncs}};

template <>
inline constexpr auto kMembers<RateSeries> =
    std::tuple{Member{"interval_s", &RateSeries::interval_s},
               Member{"intervals", &RateSeries::intervals}, Member{"bytes", &RateSeries::bytes}};

template <>
inline constexpr auto kMembers<DivergenceExample> =
    std::tuple{Member{"position", &DivergenceExample::position},
               Member{"thread", &DivergenceExample::thread},
               Member{"operation", &DivergenceExample::operation},
               Member{"path", &DivergenceExample::path},
               Member{"expected", &DivergenceExample::expected},
               Member{"result", &DivergenceExample::result},
               Member{"class", &DivergenceExample::divergence_class, true}};

template <>
inline constexpr auto kMembers<FailedCalls> =
    std::tuple{Member{"volume", &FailedCalls::volume}, Member{"operation", &FailedCalls::operation},
               Member{"error", &FailedCalls::error}, Member{"count", &FailedCalls::count}};

template <>
inline constexpr auto kMembers<TreeDifference> =
    std::tuple{Member{"path", &TreeDifference::path}, Member{"text", &TreeDifference::text}};

template <>
inline constexpr auto kMembers<TreeComparison> = std::tuple{
    Member{"entries", &TreeComparison::entries},
    Member{"differences", &TreeComparison::differences},
    Member{"left_out", &TreeComparison::left_out}, Member{"examples", &TreeComparison::examples}};

template <>
inline constexpr auto kMembers<ReelSample> =
    std::tuple{Member{"bytes_read", &ReelSample::bytes_read},
               Member{"bytes_written", &ReelSample::bytes_written},
               Member{"bytes_copied", &ReelSample::bytes_copied},
               Member{"unverified", &ReelSample::unverified},
               Member{"refused", &ReelSample::refused},
               Member{"refusals", &ReelSample::refusals},
               Member{"waits", &ReelSample::waits},
               Member{"ended_early", &ReelSample::ended_early},
               Member{"lateness", &ReelSample::lateness}};

template <>
inline constexpr auto kMembers<Conditions> =
    std::tuple{Member{"other_cpu", &Conditions::other_cpu},
               Member{"stolen_cpu", &Conditions::stolen_cpu},
               Member{"cpu_mhz_low", &Conditions::cpu_mhz_low},
               Member{"cpu_mhz_high", &Conditions::cpu_mhz_high},
               Member{"idle_device_bytes_per_s", &Conditions::idle_device_bytes_per_s},
               Member{"volume_used", &Conditions::volume_used},
               Member{"cpu_quota", &Conditions::cpu_quota},
               Member{"cpu_periods", &Conditions::cpu_periods},
               Member{"cpu_throttled_periods", &Conditions::cpu_throttled_periods},
               Member{"cpu_throttled_s", &Conditions::cpu_throttled_s},
               Member{"memory_limit", &Conditions::memory_limit},
               Member{"cpu_pressure", &Conditions::cpu_pressure},
               Member{"io_pressure", &Conditions::io_pressure},
               Member{"memory_pressure", &Conditions::memory_pressure},
               Member{"stops", &Conditions::stops}};

template <>
inline constexpr auto kMembers<ClientFigures> =
    std::tuple{Member{"host", &ClientFigures::host},
               Member{"start_s", &ClientFigures::start_s},
               Member{"elapsed_s", &ClientFigures::elapsed_s},
               Member{"durable_s", &ClientFigures::durable_s},
               Member{"bytes", &ClientFigures::bytes},
               Member{"files", &ClientFigures::files},
               Member{"operations", &ClientFigures::operations},
               Member{"interval_s", &ClientFigures::interval_s},
               Member{"bytes_course", &ClientFigures::bytes_course},
               Member{"operations_course", &ClientFigures::operations_course}};

template <>
inline constexpr auto kMembers<ClientsSample> =
    std::tuple{Member{"start_skew_us", &ClientsSample::start_skew_us},
               Member{"clock_error_us", &ClientsSample::clock_error_us},
               Member{"first_ended_s", &ClientsSample::first_ended_s},
               Member{"first_ended_bytes", &ClientsSample::first_ended_bytes},
               Member{"first_ended_files", &ClientsSample::first_ended_files},
               Member{"first_ended_operations", &ClientsSample::first_ended_operations},
               Member{"each", &ClientsSample::each}};

template <>
inline constexpr auto kMembers<Sample> =
    std::tuple{Member{"run", &Sample::run},
               Member{"started_s", &Sample::started_s},
               Member{"elapsed_s", &Sample::elapsed_s},
               Member{"durable_s", &Sample::durable_s},
               Member{"bytes", &Sample::bytes},
               Member{"files", &Sample::files},
               Member{"operations", &Sample::operations},
               Member{"transactions", &Sample::transactions},
               Member{"cpu_user_s", &Sample::cpu_user_s},
               Member{"cpu_system_s", &Sample::cpu_system_s},
               Member{"cpu_driver_s", &Sample::cpu_driver_s},
               Member{"lookup_s", &Sample::lookup_s},
               Member{"device_bytes_read", &Sample::device_bytes_read},
               Member{"device_bytes_written", &Sample::device_bytes_written},
               Member{"cold_method", &Sample::cold_method},
               Member{"cached_before", &Sample::cached_before},
               Member{"moved_no_data", &Sample::moved_no_data},
               Member{"failed_calls", &Sample::failed_calls, true},
               Member{"latency", &Sample::latency},
               Member{"service", &Sample::service, true},
               Member{"slowest", &Sample::slowest, true},
               Member{"course", &Sample::course},
               Member{"rates", &Sample::rates},
               Member{"conditions", &Sample::conditions},
               Member{"tree", &Sample::tree},
               Member{"reel", &Sample::reel},
               Member{"clients", &Sample::clients}};

template <>
inline constexpr auto kMembers<ReplayParameters> =
    std::tuple{Member{"order", &ReplayParameters::order},
               Member{"pace", &ReplayParameters::pace},
               Member{"engine", &ReplayParameters::engine},
               Member{"depth", &ReplayParameters::depth},
               Member{"verify", &ReplayParameters::verify},
               Member{"clients", &ReplayParameters::clients},
               Member{"recorded_s", &ReplayParameters::recorded_s}};

template <>
inline constexpr auto kMembers<AccessShape> =
    std::tuple{Member{"random", &AccessShape::random},
               Member{"block_size", &AccessShape::block_size}, Member{"depth", &AccessShape::depth},
               Member{"latency_comparable", &AccessShape::latency_comparable}};

template <>
inline constexpr auto kMembers<TailPrecision> = std::tuple{
    Member{"percentile", &TailPrecision::percentile}, Member{"width", &TailPrecision::width}};

template <>
inline constexpr auto kMembers<AutoRuns> =
    std::tuple{Member{"width", &AutoRuns::width}, Member{"budget_s", &AutoRuns::budget_s},
               Member{"least", &AutoRuns::least}, Member{"most", &AutoRuns::most},
               Member{"tail", &AutoRuns::tail}};

template <>
inline constexpr auto kMembers<SweepAxis> =
    std::tuple{Member{"name", &SweepAxis::name}, Member{"values", &SweepAxis::values}};

template <>
inline constexpr auto kMembers<JobRecord> =
    std::tuple{Member{"name", &JobRecord::name},
               Member{"scale", &JobRecord::scale},
               Member{"warm", &JobRecord::warm},
               Member{"overhead_ns_per_operation", &JobRecord::overhead_ns},
               Member{"sweep", &JobRecord::axes, true},
               Member{"analysis", &JobRecord::analysis, true}};

template <>
inline constexpr auto kMembers<ReportView> = std::tuple{
    Member{"title", &ReportView::title, true}, Member{"text", &ReportView::text, true},
    Member{"jobs", &ReportView::jobs, true},   Member{"operations", &ReportView::operations, true},
    Member{"sets", &ReportView::sets, true},   Member{"metrics", &ReportView::metrics, true},
    Member{"form", &ReportView::form, true},   Member{"by", &ReportView::by, true},
    Member{"at", &ReportView::at, true}};

template <>
inline constexpr auto kMembers<IndexDefinition> = std::tuple{
    Member{"name", &IndexDefinition::name}, Member{"patterns", &IndexDefinition::patterns, true},
    Member{"metric", &IndexDefinition::metric, true}};

template <>
inline constexpr auto kMembers<WorkRecord> = std::tuple{
    Member{"job", &WorkRecord::job}, Member{"set", &WorkRecord::set, true},
    Member{"file", &WorkRecord::file, true}, Member{"description", &WorkRecord::description, true},
    Member{"does", &WorkRecord::does, true}};

template <>
inline constexpr auto kMembers<PlanRecord> =
    std::tuple{Member{"name", &PlanRecord::name},
               Member{"file_systems", &PlanRecord::file_systems},
               Member{"runs", &PlanRecord::runs},
               Member{"auto_runs", &PlanRecord::auto_runs},
               Member{"work", &PlanRecord::work, true},
               Member{"report", &PlanRecord::report, true},
               Member{"indexes", &PlanRecord::indexes, true},
               Member{"digest", &PlanRecord::digest, true}};

template <>
inline constexpr auto kMembers<DeviceIdentity> =
    std::tuple{Member{"name", &DeviceIdentity::name},
               Member{"model", &DeviceIdentity::model},
               Member{"serial", &DeviceIdentity::serial},
               Member{"firmware", &DeviceIdentity::firmware},
               Member{"transport", &DeviceIdentity::transport},
               Member{"size", &DeviceIdentity::size},
               Member{"rotational", &DeviceIdentity::rotational},
               Member{"scheduler", &DeviceIdentity::scheduler},
               Member{"write_cache", &DeviceIdentity::write_cache},
               Member{"logical_block", &DeviceIdentity::logical_block},
               Member{"physical_block", &DeviceIdentity::physical_block},
               Member{"queue_requests", &DeviceIdentity::queue_requests},
               Member{"read_ahead_kib", &DeviceIdentity::read_ahead_kib}};

template <>
inline constexpr auto kMembers<LayerState> =
    std::tuple{Member{"layer", &LayerState::layer}, Member{"state", &LayerState::state},
               Member{"missing", &LayerState::missing}, Member{"done", &LayerState::done}};

template <>
inline constexpr auto kMembers<NetworkShare> =
    std::tuple{Member{"protocol", &NetworkShare::protocol},
               Member{"transport", &NetworkShare::transport, true},
               Member{"source", &NetworkShare::source},
               Member{"server", &NetworkShare::server, true},
               Member{"address", &NetworkShare::address, true},
               Member{"interface", &NetworkShare::interface, true},
               Member{"link_mbit_per_s", &NetworkShare::link_mbit_per_s}};

template <>
inline constexpr auto kMembers<VolumeDescription> =
    std::tuple{Member{"target", &VolumeDescription::target},
               Member{"target_kind", &VolumeDescription::target_kind},
               Member{"file_system", &VolumeDescription::file_system},
               Member{"driver", &VolumeDescription::driver},
               Member{"mount_options", &VolumeDescription::mount_options},
               Member{"age", &VolumeDescription::age},
               Member{"size", &VolumeDescription::size},
               Member{"drives", &VolumeDescription::drives},
               Member{"layers", &VolumeDescription::layers},
               Member{"states", &VolumeDescription::states, true},
               Member{"start", &VolumeDescription::start},
               Member{"part", &VolumeDescription::part, true},
               Member{"network", &VolumeDescription::network},
               Member{"features", &VolumeDescription::features, true},
               Member{"features_unknown", &VolumeDescription::features_unknown, true},
               Member{"used", &VolumeDescription::used}};

template <>
inline constexpr auto kMembers<HostInfo> =
    std::tuple{Member{"cpu", &HostInfo::cpu},
               Member{"cores", &HostInfo::cores},
               Member{"memory", &HostInfo::memory},
               Member{"kernel", &HostInfo::kernel},
               Member{"governor", &HostInfo::governor},
               Member{"clock_source", &HostInfo::clock_source},
               Member{"kernel_build", &HostInfo::kernel_build},
               Member{"microcode", &HostInfo::microcode},
               Member{"machine", &HostInfo::machine, true},
               Member{"cpu_set", &HostInfo::cpu_set, true},
               Member{"cpu_quota", &HostInfo::cpu_quota},
               Member{"memory_limit", &HostInfo::memory_limit}};

template <>
inline constexpr auto kMembers<Warning> =
    std::tuple{Member{"code", &Warning::code}, Member{"text", &Warning::text},
               Member{"next_step", &Warning::next_step}};

template <>
inline constexpr auto kMembers<EscapedPath> = std::tuple{Member{"original", &EscapedPath::original},
                                                         Member{"escaped", &EscapedPath::escaped}};

template <>
inline constexpr auto kMembers<EscapedNames> =
    std::tuple{Member{"file_system", &EscapedNames::file_system}, Member{"set", &EscapedNames::set},
               Member{"names", &EscapedNames::names}};

template <>
inline constexpr auto kMembers<BlockLatency> =
    std::tuple{Member{"mean_us", &BlockLatency::mean_us}, Member{"p50_us", &BlockLatency::p50_us},
               Member{"p99_us", &BlockLatency::p99_us}, Member{"p99_9_us", &BlockLatency::p999_us},
               Member{"max_us", &BlockLatency::max_us}};

template <>
inline constexpr auto kMembers<BlockBaseline> =
    std::tuple{Member{"file_system", &BlockBaseline::file_system},
               Member{"on", &BlockBaseline::on},
               Member{"pattern", &BlockBaseline::pattern},
               Member{"block_size", &BlockBaseline::block_size},
               Member{"depth", &BlockBaseline::depth},
               Member{"mb_per_s", &BlockBaseline::mb_per_s},
               Member{"iops", &BlockBaseline::iops},
               Member{"fio", &BlockBaseline::fio},
               Member{"latency", &BlockBaseline::latency}};

template <>
inline constexpr auto kMembers<Interval> =
    std::tuple{Member{"low", &Interval::low}, Member{"high", &Interval::high}};

template <>
inline constexpr auto kMembers<Spread> = std::tuple{
    Member{"median", &Spread::median}, Member{"low", &Spread::low}, Member{"high", &Spread::high},
    Member{"interval_95", &Spread::interval}, Member{"outliers", &Spread::outliers}};

template <>
inline constexpr auto kMembers<Summary> =
    std::tuple{Member{"mb_per_s", &Summary::mb_per_s},
               Member{"read_mb_per_s", &Summary::read_mb_per_s},
               Member{"written_mb_per_s", &Summary::written_mb_per_s},
               Member{"mb_per_s_elapsed", &Summary::mb_per_s_elapsed},
               Member{"files_per_s", &Summary::files_per_s},
               Member{"operations_per_s", &Summary::operations_per_s},
               Member{"transactions_per_s", &Summary::transactions_per_s}};

}  // namespace filereel
