// A measurement over time: operations by time and latency as a heat map, and the throughput.

// [{interval, bin, count}] of a course, see cells_of in replay/report/tails_data.h.
function heatCells({cells}, bins) {
  const list = [];
  let at = 0;
  for (let i = 0; i < cells.length; i += 2) {
    at += cells[i];
    list.push({interval: Math.floor(at / bins.length), bin: at % bins.length, count: cells[i + 1]});
  }
  return list;
}

// Merges `group` intervals each.
function grouped(cells, group) {
  if (group === 1) return cells;
  const sums = new Map();
  for (const {interval, bin, count} of cells) {
    const key = `${Math.floor(interval / group)} ${bin}`;
    const sum = sums.get(key);
    if (sum) sum.count += count;
    else sums.set(key, {interval: Math.floor(interval / group), bin, count});
  }
  return [...sums.values()];
}

const binBegins = (bins, bin) => Math.max(bins[bin], bins[1] / 2);  // the axis has no zero
const binEnds = (bins, bin) => bin + 1 < bins.length ? bins[bin + 1] : 2 * bins[bin];
const latencyRange = (bins, bin) =>
  `${microseconds(bins[bin] / 1000)} to ${microseconds(binEnds(bins, bin) / 1000)}`;
const sinceStart = (s) => s === 0 ? '0' : seconds(s);
const timeRange = (from, to) => `${sinceStart(from)} to ${seconds(to)}`;

const timeAxis = (end, more = {}) => axis('elapsed time', {type: 'linear', min: 0, max: end, ...more,
  ticks: {callback: (value) => tick(sinceStart(value)), maxTicksLimit: 9, includeBounds: false, autoSkipPadding: 14}});

// 0 for one operation, 1 for the maximum.
const heatShare = (count, most) => most > 1 ? Math.log(count) / Math.log(most) : 1;

// Draws the cells and the legend above them.
const heat = {
  id: 'heat',
  beforeDatasetsDraw(chart) {
    const {state} = chart.options.plugins.heat;
    const {ctx: brush, chartArea: area, scales: {x, y}} = chart;
    const {course, bins} = state;
    const group = intervalsPerCell(area.width, course.intervals);
    const width = course.interval_s * group;
    state.shown = grouped(state.cells, group).map(({interval, bin, count}) => {
      const left = x.getPixelForValue(interval * width), right = x.getPixelForValue((interval + 1) * width);
      const top = y.getPixelForValue(binEnds(bins, bin)), bottom = y.getPixelForValue(binBegins(bins, bin));
      return {interval, bin, count, left, top, width: right - left, height: bottom - top,
              from: interval * width, to: (interval + 1) * width};
    });
    const most = Math.max(1, ...state.shown.map((one) => one.count));
    brush.save();
    paintCells(brush, state, (one) => heatShare(one.count, most));
    heatLegend(brush, area, most);
    brush.restore();
  },
};

function heatLegend(brush, area, most) {
  const marks = [{share: most > 1 ? 1 : 0.5, text: whole(most)}];
  for (let count = 1; count < most; count *= 10) marks.push({share: heatShare(count, most), text: whole(count)});
  colourLegend(brush, area, 'operations', marks);
}

function heatMap(title, course, bins) {
  const cells = heatCells(course, bins);
  const total = cells.reduce((sum, one) => sum + one.count, 0);
  const used = cells.map((one) => one.bin);
  const lowest = Math.min(...used), highest = Math.max(...used);
  const most = cells.reduce((a, b) => b.count > a.count ? b : a);
  const state = {course, bins, cells, aside: 0, shown: [], chosen: null,
                 words: (one) => [counted(one.count, 'operation', 'operations'), latencyRange(bins, one.bin)]};
  const figure = chartFigure({
    title,
    height: 360,
    words: `Heat map: ${counted(total, 'operation', 'operations')} by completion time and latency, ` +
        `from ${latencyRange(bins, lowest)} up to ${latencyRange(bins, highest)}; ` +
        `most in one cell: ${whole(most.count)} in ${seconds(course.interval_s)}, ${latencyRange(bins, most.bin)}.`,
    caption: `Operations by latency and by completion time, in intervals of ${seconds(course.interval_s)}. ` +
        'Point at a cell, or use the arrow keys, to see its count.',
    tableOf: () => heatTable(cells, course, bins),
    make: () => ({
      type: 'scatter',
      plugins: [heat],
      data: {datasets: [{label: title, data: [], cells}]},
      options: {
        events: [],
        layout: {padding: {top: LEGEND_HEIGHT, right: 12}},
        scales: {
          x: timeAxis(course.intervals * course.interval_s, {grid: {display: false, borderColor: theme.colour('--strong-line')}}),
          y: axis('latency', {type: 'logarithmic', bounds: 'data', min: binBegins(bins, lowest),
            max: binEnds(bins, highest), afterBuildTicks: decades,
            ticks: {callback: (value) => tick(microseconds(value / 1000)), autoSkip: false}}),
        },
        plugins: {heat: {state}, tooltip: {enabled: false}},
      },
    }),
  });
  addCellSelection(figure, state);
  return figure;
}

// A row per latency range with operations, the longest first, and a column per time interval.
function heatTable(cells, course, bins) {
  const stretch = Math.ceil(course.intervals / 8), stretches = Math.ceil(course.intervals / stretch);
  const rows = new Map();
  for (const {interval, bin, count} of cells) {
    if (!rows.has(bin)) rows.set(bin, new Array(stretches + 1).fill(0));
    rows.get(bin)[0] += count;
    rows.get(bin)[1 + Math.floor(interval / stretch)] += count;
  }
  const width = stretch * course.interval_s;
  const heading = Array.from({length: stretches}, (_, i) =>
    timeRange(i * width, Math.min((i + 1) * width, course.intervals * course.interval_s)));
  return table('Operations by latency and time', ['latency', 'all', ...heading],
      [...rows].sort(([a], [b]) => b - a).map(([bin, counts]) => [latencyRange(bins, bin),
        ...counts.map((count) => ({text: count ? whole(count) : '–', value: count}))]));
}

// A figure of one of the repetitions: the typical one first, then `all` of them if given.
// `figureOf` makes it from the name and data of a choice; `label` is that of the selection. Pages of many
// repetitions hold a few of them alone.
function ofRepetition(label, {runs, typical, all, repetitions = runs.length}, figureOf) {
  const usual = runs.find((run) => run.run === typical) || runs[0];
  const choices = [[`repetition ${usual.run}`, usual], ...(all ? [[`all ${repetitions} repetitions`, all]] : []),
                   ...runs.filter((run) => run !== usual).map((run) => [`repetition ${run.run}`, run])];
  const inner = element('div');
  const show = (index) => place(inner, [figureOf(...choices[index])]);
  const part = element('div', {class: 'wide'}, choices.length > 1 ? element('div', {class: 'controls'},
      selection(label, choices.map(([name], i) => [String(i), i ? name : `${name} (nearest to the median time)`]),
          (value) => show(Number(value)))) : null, inner);
  part.draw = () => show(0);
  return part;
}

const heatMapOf = (one, bins) => one.course.runs
    ? ofRepetition('Heat map of', one.course, (name, run) => heatMap(`Latency over time, ${name}`, run, bins))
    : null;

// A line per repetition; the typical one is thick.
function throughputChart(one) {
  const {runs, typical, figure, repetitions} = one.course;
  if (!runs) return null;
  const unit = FIGURES[figure].unit;
  const lines = runs.map((run) => {
    const points = [];
    for (let i = 0; i < run.rates.length; i += 2) points.push({x: run.rates[i], y: run.rates[i + 1]});
    return {run: run.run, points, usual: run.run === typical};
  });
  const usual = lines.find((line) => line.usual) || lines[0];
  const rates = usual.points.map((point) => point.y);
  const end = Math.max(...runs.map((run) => run.intervals * run.interval_s));
  return chartFigure({
    title: `Throughput over time: ${unit}`,
    height: 260,
    words: `Line chart: ${unit} over time, a line for each of ${counted(lines.length, 'repetition', 'repetitions')}; ` +
        `repetition ${usual.run}: ${number(Math.min(...rates))} to ${number(Math.max(...rates))} ${unit}.`,
    caption: lines.length > 1
        ? `Thick: repetition ${usual.run}, the median; thin: ` +
            (repetitions ? `the fastest and the slowest of ${repetitions}.` : 'the others.') : null,
    tableOf: () => throughputTable(lines, usual, unit, end),
    make: () => ({
      type: 'line',
      data: {datasets: lines.map((line) => ({
        label: `repetition ${line.run}`, data: line.points, order: line === usual ? 0 : 1,
        borderColor: line === usual ? colourOf(0) : theme.colour('--quiet') + '90',
        backgroundColor: line === usual ? colourOf(0) : theme.colour('--quiet') + '90',
        borderWidth: line === usual ? 2.5 : 1, pointRadius: line.points.length > 3 ? 0 : 3,
      }))},
      options: {
        interaction: {mode: 'nearest', intersect: false, axis: 'xy'},
        scales: {
          x: timeAxis(end),
          y: axis(unit, {beginAtZero: true, ticks: {callback: (value) => tick(number(value)), maxTicksLimit: 7}}),
        },
        plugins: {tooltip: {callbacks: {
          title: ([item]) => `at ${seconds(item.parsed.x)}`,
          label: (item) => `${item.dataset.label}: ${number(item.parsed.y)} ${unit}`,
        }}},
      },
    }),
  });
}

// Means by time interval, for the typical repetition and some of the others.
function throughputTable(lines, usual, unit, end) {
  const shown = [usual, ...lines.filter((line) => line !== usual).slice(0, 7)];
  const rows = Math.min(20, Math.max(...shown.map((line) => line.points.length)));
  const width = end / rows;
  const mean = (line, row) => {
    const rates = line.points.filter(({x}) => Math.min(Math.floor(x / width), rows - 1) === row);
    return rates.length ? rates.reduce((sum, {y}) => sum + y, 0) / rates.length : null;
  };
  return table(`${unit}, means by time interval`, ['elapsed time', ...shown.map((line) => `repetition ${line.run}`)],
      Array.from({length: rows}, (_, row) => [timeRange(row * width, (row + 1) * width), ...shown.map((line) => {
        const value = mean(line, row);
        return value === null ? '–' : {text: number(value), value};
      })]));
}
