// The page of a history: devices and firmware, trends, and what each firmware changed.

const SLOW = 'slower', FAST = 'faster';
const day = (text) => text.slice(0, 10);
// Labels of points: with the time where several are of one day.
const dayLabels = (times) => times.map((text) => times.filter((other) => day(other) === day(text)).length > 1
    ? `${day(text)} ${text.slice(11, 16)}` : day(text));
const isTail = (series) => series.tail;
const trendText = (series, value) => isTail(series) ? microseconds(value) : number(value);
const percentChange = (value) => `${value < 0 ? '−' : '+'}${Math.abs(value * 100).toFixed(1)}\u202f%`;

// The measurements that changed, slower ones first.
const changedIn = (comparison) => [SLOW, FAST].flatMap(
    (verdict) => comparison.measurements.filter((one) => one.verdict === verdict));

// "2 slower, 1 faster, 7 same"; "no change is proven: 6 cannot tell".
function verdictCounts(comparison) {
  const count = (verdict) => comparison.measurements.filter((one) => one.verdict === verdict).length;
  if (comparison.measurements.length === 0) return 'nothing in common';
  const parts = [SLOW, FAST, 'same', 'cannot tell'].map((verdict) => [count(verdict), verdict])
      .filter(([found]) => found > 0).map(([found, verdict]) => `${whole(found)} ${verdict}`);
  const proven = count(SLOW) + count(FAST) + count('same') > 0;
  return `${proven ? '' : 'no change is proven: '}${parts.join(', ')}`;
}

// A link that also opens the comparison.
function linkTo(target, ...children) {
  return element('a', {href: `#${target.id}`, onclick: () => { openBelow(target); }}, ...children);
}

function openBelow(target) {
  const details = target.querySelector(':scope > details');
  if (!details) return;
  details.fillNow();
  details.open = true;
}

// The course of one figure: a line per firmware, with the interval of each result.
function trendChart(device, series) {
  const labels = dayLabels(series.points.map(([, started]) => started));
  const used = device.firmware.map((_, f) => f).filter((f) => series.points.some((point) => point[2] === f));
  const lines = used.map((f) => ({
    name: device.firmware[f].name,
    style: f,
    points: series.points.map((point) => point[2] === f ? point[3] : null),
    ranges: series.points.map((point) => point[2] === f && point[4] < point[5] ? [point[4], point[5], point[6]] : null),
  }));
  const title = isTail(series) ? `Tail: ${series.unit.slice(3)}` : `Rate: ${series.unit}`;
  return lineChart({
    title,
    xTitle: 'result',
    yTitle: isTail(series) ? '' : series.unit,
    xLabels: labels,
    text: (value) => trendText(series, value),
    lines,
    words: `Line chart: ${series.name}, ${series.unit}. ` + lines.map((line) => `Firmware ${line.name}: ` +
        line.points.filter((value) => value !== null).map((value) => trendText(series, value)).join(', ')).join('; ') + '.',
    tableOf: () => table(`${series.name}, ${series.unit}`, ['result', 'started', 'firmware', 'median', 'from', 'to'],
        series.points.map(([entry, started, f, median, low, high]) => [String(entry), moment(started),
          named(device.firmware[f].name), {text: trendText(series, median), value: median},
          {text: trendText(series, low), value: low}, {text: trendText(series, high), value: high}]),
        {left: [1, 2]}),
  });
}

function trendTable(device) {
  return table('Medians of the first and the last result; by firmware: the last one relative to the one before, with its 95 % margin',
      ['measurement', 'unit', 'results', 'first', 'last', 'change', 'by firmware'],
      device.series.map((series) => {
        const first = series.points[0][3], last = series.points.at(-1)[3];
        return [named(series.name), isTail(series) ? series.unit.slice(3) : series.unit, whole(series.points.length),
          {text: trendText(series, first), value: first}, {text: trendText(series, last), value: last},
          {text: percentChange(series.change), value: series.change},
          series.firmware_change === undefined ? '–' : {text: percentChange(series.firmware_change), value: series.firmware_change,
            range: series.firmware_margin === undefined ? null : `±${(series.firmware_margin * 100).toFixed(0)}\u202f%`}];
      }), {left: [1]});
}

// How far the change by firmware exceeds its margin.
const importance = (series) => Math.abs(series.firmware_change || 0) / (series.firmware_margin || 1);

function showTrends(part, device) {
  if (device.left_out.length) {
    part.append(element('h3', {}, 'Left out'),
        element('ul', {class: 'findings'}, device.left_out.map((text) => element('li', {}, named(text)))));
  }
  if (device.series.length === 0) return;  // no work was done
  const names = unique(device.series.map(({name}) => name));
  const of = (name) => device.series.filter((series) => series.name === name);
  const largest = [...device.series].sort((a, b) => importance(b) - importance(a))[0].name;
  const charts = element('div', {class: 'grid'});
  const show = (name) => {
    charts.classList.toggle('one', of(name).length === 1);
    place(charts, of(name).map((series) => trendChart(device, series)));
  };
  part.append(element('h3', {}, 'Trends'));
  if (names.length > 1) {
    part.append(element('div', {class: 'controls'},
        selection('Measurement', names.map((name) => [name, name]), show, largest)));
  }
  part.append(element('p', {class: 'hint'}, 'Points are medians, a line for each firmware. Solid whiskers: 95 % interval of the median. Dashed whiskers: range, minimum to maximum, of fewer than six runs.'), charts);
  show(largest);
  part.append(collapsible(`All ${counted(device.series.length, 'trend', 'trends')}`, () => trendTable(device)));
}

function changeText(one) {
  const ratio = one.ratio === undefined || one.verdict_text !== one.verdict ? '' : `, ${percentChange(one.ratio - 1)} time`;
  return [named(one.key), ': ', element('span', {class: `verdict-${one.verdict}`}, one.verdict_text), ratio];
}

// What a firmware changed, and its whole comparison with the one before. Returns the element.
function showFirmware(part, device, place) {
  const {name, comparison} = device.firmware[place], before = device.firmware[place - 1].name;
  const heading = element('h3', {}, 'Firmware ', named(before), ' → ', named(name));
  const changed = changedIn(comparison);
  const holder = element('div', {id: freshId('comparison')}, heading, element('p', {}, sentence(verdictCounts(comparison))));
  if (changed.length) {
    holder.append(element('ul', {class: 'findings'}, changed.map((one) => element('li', {}, changeText(one)))));
  }
  if (comparison.measurements.length) {
    holder.append(collapsible('The comparison', () => {
      const whole = element('div');
      fillComparison(whole, comparison);
      return whole;
    }));
  }
  part.append(holder);
  return holder;
}

function deviceRows(device, comparisons) {
  return device.firmware.map((one, f) => [named(device.name), named(one.name),
    one.comparison === undefined ? '–' : linkTo(comparisons[f], element('span', {class: `verdict-${one.comparison.overall}`}, verdictCounts(one.comparison))),
    whole(one.results), moment(one.started), moment(one.last)]);
}

function showHistory(data) {
  const {devices} = data;
  const results = devices.flatMap((device) => device.firmware).reduce((sum, one) => sum + one.results, 0);
  const starts = devices.flatMap((device) => device.firmware.flatMap((one) => [one.started, one.last])).sort();
  document.getElementById('title').replaceChildren(devices.length === 1 ? named(devices[0].name)
      : `History of ${counted(devices.length, 'device', 'devices')}`);
  document.getElementById('subtitle').replaceChildren(
      `${counted(results, 'result', 'results')}, ${unique([day(starts[0]), day(starts.at(-1))]).join(' to ')}`);
  const summary = section('Devices and firmware');
  const rows = devices.flatMap((device) => {
    const part = section(device.name);
    const comparisons = device.firmware.map((_, f) => f === 0 ? null : showFirmware(part, device, f));
    showTrends(part, device);
    return deviceRows(device, comparisons);
  });
  summary.append(element('p', {}, 'Each firmware is compared with the one before; only changes that are proven count as slower or faster. Select a verdict to see the comparison.'),
      table('Results by device and firmware', ['device', 'firmware', 'compared with the one before', 'results', 'first', 'last'], rows,
          {left: [1, 2, 4, 5]}));
}
