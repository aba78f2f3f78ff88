// A measurement over time: operations by time and latency as a heat map, and the throughput.

const LEAST_CELL = 2.5;  // minimum cell width in pixels: intervals are merged to reach it
const HEAT_TOP = 42;     // pixels above the cells, for the legend
const NEAR = 16;         // pixels within which a cell is selected

// [{interval, bin, count}] of a course, see cells_of in replay/report/tails.h.
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

// 0 for one operation, 1 for the maximum.
const heatShare = (count, most) => most > 1 ? Math.log(count) / Math.log(most) : 1;

// Draws the cells, the legend above them, and a frame around the chosen cell.
const heat = {
  id: 'heat',
  beforeDatasetsDraw(chart) {
    const {state} = chart.options.plugins.heat;
    const {ctx: brush, chartArea: area, scales: {x, y}} = chart;
    const {course, bins} = state;
    let group = 1;
    while (area.width * group / course.intervals < LEAST_CELL && group < course.intervals) group *= 2;
    const width = course.interval_s * group;
    state.shown = grouped(state.cells, group).map(({interval, bin, count}) => {
      const left = x.getPixelForValue(interval * width), right = x.getPixelForValue((interval + 1) * width);
      const top = y.getPixelForValue(binEnds(bins, bin)), bottom = y.getPixelForValue(binBegins(bins, bin));
      return {interval, bin, count, left, top, width: right - left, height: bottom - top,
              from: interval * width, to: (interval + 1) * width};
    });
    const most = Math.max(1, ...state.shown.map((one) => one.count));
    brush.save();
    const chosen = state.chosen;
    for (const one of state.shown) {
      brush.fillStyle = heatColour(heatShare(one.count, most));
      // Slightly wider, to avoid seams between neighbours.
      brush.fillRect(one.left, one.top, Math.max(one.width, 1) + 0.3, Math.max(one.height, 1) + 0.3);
    }
    if (chosen) {
      brush.strokeStyle = theme.colour('--text');
      brush.lineWidth = 2;
      brush.strokeRect(chosen.left - 1, chosen.top - 1, chosen.width + 2, chosen.height + 2);
    }
    heatLegend(brush, area, most);
    brush.restore();
  },
};

function heatLegend(brush, area, most) {
  const ink = theme.colour('--quiet'), height = 9;
  const length = Math.min(240, area.width * 0.6);
  brush.font = `11px ${Chart.defaults.font.family}`;
  brush.textBaseline = 'alphabetic';
  brush.fillStyle = ink;
  brush.textAlign = 'left';
  const title = 'operations';
  brush.fillText(title, area.left, height);
  const left = area.left + brush.measureText(title).width + 8;
  const ramp = brush.createLinearGradient(left, 0, left + length, 0);
  for (let stop = 0; stop <= 1; stop += 1 / 16) ramp.addColorStop(stop, heatColour(stop));
  brush.fillStyle = ramp;
  brush.fillRect(left, 0, length, height);
  brush.fillStyle = ink;
  brush.strokeStyle = ink;
  brush.textAlign = 'center';
  brush.lineWidth = 1;
  let free = -Infinity;
  const counts = [];
  for (let count = 1; count < most; count *= 10) counts.push(count);
  // The maximum first: its label always has room.
  const last = left + length;
  const label = (count, x) => {
    brush.fillText(whole(count), x, height + 15);
    brush.beginPath();
    brush.moveTo(x, height);
    brush.lineTo(x, height + 3);
    brush.stroke();
  };
  label(most, most > 1 ? last : left + length / 2);
  const end = last - brush.measureText(whole(most)).width / 2;
  for (const count of counts) {
    const x = left + heatShare(count, most) * length, half = brush.measureText(whole(count)).width / 2;
    if (x - half < free + 6 || x + half > end - 6) continue;
    label(count, x);
    free = x + half;
  }
}

function heatMap(title, course, bins) {
  const cells = heatCells(course, bins);
  const total = cells.reduce((sum, one) => sum + one.count, 0);
  const used = cells.map((one) => one.bin);
  const lowest = Math.min(...used), highest = Math.max(...used);
  const most = cells.reduce((a, b) => b.count > a.count ? b : a);
  const state = {course, bins, cells, shown: [], chosen: null};
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
        layout: {padding: {top: HEAT_TOP, right: 12}},
        scales: {
          x: axis('elapsed time', {type: 'linear', min: 0, max: course.intervals * course.interval_s,
            grid: {display: false, borderColor: theme.colour('--strong-line')},
            ticks: {callback: (value) => tick(sinceStart(value)), maxTicksLimit: 9, includeBounds: false, autoSkipPadding: 14}}),
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

// Shows the count of a cell by pointer, finger or arrow keys.
function addCellSelection(figure, state) {
  const canvas = figure.querySelector('canvas'), plot = figure.querySelector('.plot');
  const tip = element('div', {class: 'tip', role: 'status', hidden: true});
  plot.append(tip);
  canvas.setAttribute('tabindex', '0');
  const choose = (one) => {
    state.chosen = one;
    tip.hidden = !one;
    const chart = Chart.getChart(canvas);
    if (chart) chart.draw();
    if (!one) return;
    tip.replaceChildren(element('strong', {}, counted(one.count, 'operation', 'operations')),
        element('br', {}), latencyRange(state.bins, one.bin), element('br', {}),
        timeRange(one.from, one.to));
    const middle = one.left + one.width / 2 - tip.offsetWidth / 2;
    const above = one.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(0, Math.min(middle, plot.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${above >= 0 ? above : one.top + one.height + 8}px`;
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const away = (begin, length, value) => Math.max(begin - value, value - begin - length, 0);
    let best = null, least = NEAR;
    for (const one of state.shown) {
      const distance = Math.hypot(away(one.left, one.width, x), away(one.top, one.height, y));
      if (distance < least) {
        least = distance;
        best = one;
      }
    }
    choose(best);
  };
  canvas.addEventListener('pointermove', at);
  canvas.addEventListener('pointerdown', at);
  canvas.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && choose(null));
  canvas.addEventListener('blur', () => choose(null));
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (event.key === 'Escape') choose(null);
    if (!step) return;
    event.preventDefault();
    const now = state.chosen || state.shown[0];
    if (!state.chosen) return choose(now);
    // The next cell in the direction; of several, the nearest on the other axis.
    const [across, up] = step;
    let next = null, least = Infinity;
    for (const one of state.shown) {
      const ahead = across ? (one.interval - now.interval) * across : (one.bin - now.bin) * up;
      const aside = across ? Math.abs(one.bin - now.bin) : Math.abs(one.interval - now.interval);
      if (ahead <= 0 || (up && aside > 0)) continue;
      if (ahead * state.bins.length + aside < least) {
        least = ahead * state.bins.length + aside;
        next = one;
      }
    }
    if (next) choose(next);
  });
  const draw = figure.draw;
  figure.draw = () => {
    state.chosen = null;
    tip.hidden = true;
    draw();
  };
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

// Shows the typical repetition first; the others and all together are selectable.
function heatMapOf(one, bins) {
  const {runs, all, typical} = one.course;
  if (!runs) return null;
  const usual = runs.find((run) => run.run === typical) || runs[0];
  const choices = [[`repetition ${usual.run}`, usual], ...(all ? [[`all ${runs.length} repetitions`, all]] : []),
                   ...runs.filter((run) => run !== usual).map((run) => [`repetition ${run.run}`, run])];
  const inner = element('div');
  const show = (index) =>
    place(inner, [heatMap(`Latency over time, ${choices[index][0]}`, choices[index][1], bins)]);
  const part = element('div', {class: 'wide'}, choices.length > 1 ? element('div', {class: 'controls'},
      selection('Heat map of', choices.map(([name], i) => [String(i), i ? name : `${name} (median time)`]),
          (value) => show(Number(value)))) : null, inner);
  part.draw = () => show(0);
  return part;
}

// A line per repetition; the typical one is thick.
function throughputChart(one) {
  const {runs, typical, figure} = one.course;
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
        ? `Thick: repetition ${usual.run}, the median; thin: the others.` : null,
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
          x: axis('elapsed time', {type: 'linear', min: 0, max: end,
            ticks: {callback: (value) => tick(sinceStart(value)), maxTicksLimit: 9, includeBounds: false, autoSkipPadding: 14}}),
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
