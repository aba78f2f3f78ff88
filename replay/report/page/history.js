// The page of a history: devices and firmware, trends, and what each firmware changed.

const SLOW = 'slower', FAST = 'faster';
const day = (text) => text.slice(0, 10);
const clock = (text) => text.slice(11, 19);

// Labels of points, by what tells them apart: the date, the time if all are of one day, or both. `in`
// is what they have in common.
function timeLabels(times) {
  const days = unique(times.map(day)), years = unique(times.map((text) => text.slice(0, 4)));
  const minutes = unique(times.map((text) => text.slice(0, 16)));
  const time = (text) => minutes.length === unique(times).length ? text.slice(11, 16) : clock(text);
  if (days.length === times.length) return {labels: times.map(day), in: ''};
  if (days.length === 1) return {labels: times.map(time), in: days[0]};
  return {labels: times.map((text) => `${years.length > 1 ? day(text).slice(2) : day(text).slice(5)} ${time(text)}`),
    in: years.length > 1 ? '' : years[0]};
}

const isTail = (series) => series.tail;
// Figures of tails have their unit, by their size.
const unitOf = (series) => isTail(series) ? series.unit.slice(3) : series.unit;
const trendText = (series, value) => isTail(series) ? microseconds(value) : number(value);
const percentChange = (value) => `${value < 0 ? '−' : '+'}${Math.abs(value * 100).toFixed(1)}\u202f%`;

// The measurements that changed, slower ones first.
const changedIn = (comparison) => [SLOW, FAST].flatMap(
    (verdict) => comparison.measurements.filter((one) => one.verdict === verdict));

// Those of which a change is indicated, but not proven.
const indicatedIn = (comparison) => comparison.measurements.filter(
    (one) => one.verdict === 'cannot tell' && one.verdict_text.includes('indicated'));

// "2 slower, 1 faster, 7 same"; "no change is proven: 6 cannot tell, a change is indicated in 2 of these".
function verdictCounts(comparison) {
  const count = (verdict) => comparison.measurements.filter((one) => one.verdict === verdict).length;
  if (comparison.measurements.length === 0) return 'nothing in common';
  if (comparison.measurements.every((one) => one.base === undefined)) {
    return `nothing is comparable: ${comparison.measurements[0].reason}`;
  }
  const indicated = indicatedIn(comparison).length;
  const parts = [SLOW, FAST, 'same', 'cannot tell'].map((verdict) => [count(verdict), verdict])
      .filter(([found]) => found > 0).map(([found, verdict]) => `${whole(found)} ${verdict}`);
  if (indicated > 0) parts.push(`a change is indicated in ${whole(indicated)} of these`);
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
  const times = timeLabels(series.points.map(([, started]) => started));
  const used = device.firmware.map((_, f) => f).filter((f) => series.points.some((point) => point[2] === f));
  const lines = used.map((f) => ({
    name: device.firmware[f].name,
    style: f,
    points: series.points.map((point) => point[2] === f ? point[3] : null),
    ranges: series.points.map((point) => point[2] === f && point[4] < point[5] ? [point[4], point[5], point[6]] : null),
  }));
  const title = `${isTail(series) ? 'Tail' : 'Rate'}: ${unitOf(series)}`;
  return lineChart({
    title,
    xTitle: times.in ? `result, ${times.in}` : 'result',
    yTitle: isTail(series) ? '' : series.unit,
    xLabels: times.labels,
    letters: 17,  // the longest label: "24-02-29 12:00:00"
    text: (value) => trendText(series, value),
    lines,
    words: `Line chart: ${series.name}, ${unitOf(series)}. ` + lines.map((line) => `Firmware ${line.name}: ` +
        line.points.filter((value) => value !== null).map((value) => trendText(series, value)).join(', ')).join('; ') + '.',
    tableOf: () => table(`${series.name}, ${unitOf(series)}`, ['result', 'started', 'firmware', 'median', 'from', 'to'],
        series.points.map(([entry, started, f, median, low, high]) => [String(entry), moment(started),
          named(device.firmware[f].name), {text: trendText(series, median), value: median},
          {text: trendText(series, low), value: low}, {text: trendText(series, high), value: high}]),
        {left: [1, 2]}),
  });
}

function trendTable(device) {
  return table('Medians of the first and the last result; by firmware: the last one relative to the one before, with its 95 % interval, which contains the spread between sessions; it is that of the geometric means of the sessions, the comparison has the medians over all pairs of runs',
      ['measurement', 'unit', 'results', 'first', 'last', 'change', 'by firmware'],
      device.series.map((series) => {
        const first = series.points[0][3], last = series.points.at(-1)[3];
        return [named(series.name), unitOf(series), whole(series.points.length),
          {text: trendText(series, first), value: first}, {text: trendText(series, last), value: last},
          series.change === undefined ? (series.points.length === 1 ? 'one result' : '–')
            : {text: percentChange(series.change), value: series.change},
          series.firmware_change === undefined ? '–' : {text: percentChange(series.firmware_change), value: series.firmware_change,
            range: series.firmware_interval && `(${series.firmware_interval.map(percentChange).join(' to ')})`}];
      }), {left: [1]});
}

// How far the change by firmware exceeds half its interval, on the scale of logarithms.
function importance(series) {
  if (series.firmware_interval === undefined) return 0;
  const [low, high] = series.firmware_interval.map(Math.log1p);
  return Math.abs(Math.log1p(series.firmware_change)) / ((high - low) / 2 || 1);
}

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
  part.append(element('p', {class: 'hint'}, 'Points are medians of the runs, those of tails percentiles of all runs together; a line for each firmware. Solid whiskers: 95 % interval of the median. Dashed whiskers: minimum and maximum of the runs, for tails and for fewer than six runs.'), charts);
  show(largest);
  part.append(collapsible(`All ${counted(device.series.length, 'trend', 'trends')}`, () => trendTable(device)));
}

function changeText(one) {
  const ratio = one.ratio === undefined || one.verdict_text !== one.verdict ? '' : `, ${percentChange(one.ratio - 1)} time`;
  return [named(one.key), ': ', element('span', {class: `verdict-${one.verdict}`}, one.verdict_text), ratio];
}

// What differs other than the firmware, which then may not be the cause.
const alsoChanged = (comparison) => comparison.changes.filter((one) => one.kind !== 'firmware');

// What a firmware changed, and its whole comparison with the one before. Returns the element.
function showFirmware(part, device, place) {
  const {name, comparison} = device.firmware[place], before = device.firmware[place - 1].name;
  const heading = element('h3', {}, 'Firmware ', named(before), ' → ', named(name));
  const changed = [...changedIn(comparison), ...indicatedIn(comparison)];
  const holder = element('div', {id: freshId('comparison')}, heading, element('p', {}, sentence(verdictCounts(comparison))));
  if (changed.length) {
    holder.append(element('ul', {class: 'findings'}, changed.map((one) => element('li', {}, changeText(one)))));
  }
  const others = alsoChanged(comparison);
  if (others.length) {
    holder.append(element('p', {}, 'Also changed:'), element('ul', {class: 'findings'}, others.map(
        (one) => element('li', {}, named(one.what), ': ', named(spaced(one.base)), ' → ', named(spaced(one.fresh))))));
  }
  addWarnings(holder, comparison);
  if (comparison.measurements.length) {
    holder.append(collapsible('The comparison', () => {
      const whole = element('div');
      fillComparison(whole, comparison, false);
      return whole;
    }));
  }
  part.append(holder);
  return holder;
}

// The verdicts of a comparison, with a link to it, and what else changed.
function verdictCell(comparison, target) {
  const link = linkTo(target, element('span', {class: `verdict-${comparison.overall}`}, verdictCounts(comparison)));
  const others = alsoChanged(comparison).map((one) => one.what);
  return others.length ? element('div', {}, link, element('div', {class: 'hint'}, 'also changed: ', named(others.join(', ')))) : link;
}

function deviceRows(device, comparisons) {
  return device.firmware.map((one, f) => [named(device.name), named(one.name),
    one.comparison === undefined ? '–' : verdictCell(one.comparison, comparisons[f]),
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
  summary.append(element('p', {}, 'Each firmware is compared with the one before; only changes that are proven count as slower or faster; those that are indicated are told apart. Select a verdict to see the comparison.'),
      table('Results by device and firmware', ['device', 'firmware', 'compared with the one before', 'results', 'first', 'last'], rows,
          {left: [1, 2, 4, 5]}));
}
