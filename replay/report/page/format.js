// Formats figures with about three significant digits and their units, as terminals and Markdown
// show them (format_number in filesets/system/units.h).

function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  let unit = '';
  if (value >= 9999.5) {
    for (const next of ['k', 'M', 'G']) {
      if (value < 999.5) break;
      value /= 1000;
      unit = next;
    }
  }
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + unit;
}

function whole(value) {
  if (value === null || value === undefined) return '–';
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function scaled(value, step, units) {
  let unit = 0;
  while (value >= step * 0.9995 && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  const digits = value >= 99.95 || (unit === 0 && Number.isInteger(value)) ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(digits) + '\u202f' + units[unit];
}

function size(bytes) {
  if (bytes === null || bytes === undefined) return '–';
  return scaled(bytes, 1000, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

function binarySize(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  while (bytes > 0 && bytes % 1024 === 0 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${bytes}\u202f${units[unit]}`;
}

function microseconds(us) {
  if (us === null || us === undefined) return '–';
  if (us < 1) return scaled(us * 1000, 1000, ['ns', 'µs']);
  return scaled(us, 1000, ['µs', 'ms', 's']);
}

// As format_duration in filesets/system/units.h.
function seconds(s) {
  if (s === null || s === undefined) return '–';
  if (s === 0) return '0\u202fs';
  if (s < 99.95) return microseconds(s * 1e6);
  const two = (value) => String(value).padStart(2, '0');
  const all = Math.round(s), minutes = Math.floor((all + 30) / 60);
  if (all < 3600) return `${Math.floor(all / 60)}\u202fmin ${two(all % 60)}\u202fs`;
  return `${Math.floor(minutes / 60)}\u202fh ${two(minutes % 60)}\u202fmin`;
}

function share(value) {
  if (value === null || value === undefined) return '–';
  const percent = value * 100;
  return (percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)) + '\u202f%';
}

const signedShare = (value) => `${value < 0 ? '−' : '+'}${share(Math.abs(value))}`;

// "2024-02-29 12:00 UTC" for an ISO 8601 time.
function moment(text) {
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}Z$/.exec(text);
  return parts ? `${parts[1]} ${parts[2]}\u202fUTC` : text;
}

function counted(count, one, many) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

// The metrics by name: {title, kind, rate, unit, short, more}; `unit` for axes, `short` for columns.
const FIGURES = Object.fromEntries(data.metrics.map((one) => [one.name, {
  title: one.title, more: one.more, kind: one.unit, rate: one.rate, short: one.heading,
  unit: {'MB/s': 'MB/s', '1/s': one.heading, s: 's', us: '', share: ''}[one.unit],
}]));

// The driver of a volume or measurement: "FUSE: ntfs-3g"; that of sshfs has the name of the file system.
// A measurement without a volume has none.
function driverText(of, kernel) {
  if (of.driver === 'kernel') return kernel;
  if (of.driver === 'none') return 'none';
  return of.driver === of.file_system ? 'FUSE' : `FUSE: ${of.driver}`;
}

// With its unit, unless the axis has it.
function figureText(figure, value) {
  const text = {s: seconds, us: microseconds, share}[FIGURES[figure].kind];
  return text ? text(value) : number(value);
}

function withUnit(figure, value) {
  const {rate, unit} = FIGURES[figure];
  return rate ? `${number(value)} ${unit}`.trimEnd() : figureText(figure, value);
}

// A figure of a measurement as {median, low, high, interval_95}; null if there is none.
function spreadIn(measurement, figure) {
  const list = measurement.figures[figure];
  if (!list) return null;
  const [median, low, high, from, to] = list;
  return {median, low, high, interval_95: from === undefined ? null : {low: from, high: to}};
}

// The range of a whisker: the interval, otherwise the extremes; null for a single sample.
function rangeOf(spread) {
  if (spread.interval_95) return {...spread.interval_95, sure: true};
  if (spread.low === spread.high) return null;
  return {low: spread.low, high: spread.high, sure: false};
}

function rangeText(figure, spread) {
  const range = rangeOf(spread);
  if (!range) return '';
  return `${figureText(figure, range.low)}–${figureText(figure, range.high)}`;
}
