// Charts by Chart.js. Each is a figure with a title, a text alternative, and a table of its data.

const shown = new Map();  // canvas -> figure, to redraw its chart in other colours

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.plugins.legend.display = false;

const WHISKER_CAP = 3;

// Draws the range of each bar or point, and the value of a bar after both. A dataset's `ranges` are
// [low, high, sure] or null. Extremes (not sure) are dashed.
const whiskers = {
  id: 'whiskers',
  afterDatasetsDraw(chart) {
    const brush = chart.ctx, upright = chart.config.type === 'line';
    const scale = upright ? chart.scales.y : chart.scales.x;
    const ink = theme.colour('--text');
    brush.save();
    brush.strokeStyle = brush.fillStyle = ink;
    brush.lineWidth = 1.2;
    brush.font = `11px ${Chart.defaults.font.family}`;
    brush.textBaseline = 'middle';
    chart.data.datasets.forEach((dataset, index) => {
      chart.getDatasetMeta(index).data.forEach((bar, i) => {
        const value = dataset.data[i];
        if (value === null || value === undefined) return;
        const range = dataset.ranges && dataset.ranges[i];
        let end = bar.x;
        if (range) {
          const [low, high, sure] = range;
          // A logarithmic axis does not reach zero.
          const from = scale.getPixelForValue(Math.max(low, scale.min)), to = scale.getPixelForValue(high);
          const line = (along, across, alongTo, acrossTo) => {
            brush.beginPath();
            brush.moveTo(...(upright ? [across, along] : [along, across]));
            brush.lineTo(...(upright ? [acrossTo, alongTo] : [alongTo, acrossTo]));
            brush.stroke();
          };
          const middle = upright ? bar.x : bar.y;
          if (upright) brush.strokeStyle = dataset.borderColor;
          brush.setLineDash(sure ? [] : [2, 2]);
          line(from, middle, to, middle);
          brush.setLineDash([]);
          for (const at of [from, to]) line(at, middle - WHISKER_CAP, at, middle + WHISKER_CAP);
          if (!upright) end = Math.max(end, to + WHISKER_CAP);
        }
        if (!dataset.texts) return;
        brush.fillText(dataset.texts[i], end + 5, bar.y);
      });
    });
    brush.restore();
  },
};

// A figure with a chart. `make` returns its description for Chart.js each time it is drawn.
// `tableOf` makes the table of its data; `words` is the text alternative.
function chartFigure({title, level = 'h3', height, words, make, tableOf, caption}) {
  const canvas = element('canvas', {role: 'img', 'aria-label': words, tabindex: '-1'}, words);
  const plot = element('div', {class: 'plot'}, canvas);
  plot.style.height = `${height}px`;
  const figure = element('figure', {}, element(level, {}, title), plot,
      caption ? element('figcaption', {}, caption) : null,
      tableOf ? collapsible('Data of this chart', tableOf) : null);
  figure.draw = () => {
    const old = Chart.getChart(canvas);
    if (old) old.destroy();
    new Chart(canvas, make());
    shown.set(canvas, figure);
  };
  return figure;
}

// Inserts figures into the page before drawing them: Chart.js needs their size.
function place(parent, figures) {
  for (const canvas of parent.querySelectorAll('canvas')) {
    const chart = Chart.getChart(canvas);
    if (chart) chart.destroy();
    shown.delete(canvas);
  }
  parent.replaceChildren(...figures);
  for (const figure of figures) {
    if (figure.draw) figure.draw();
  }
}

function redrawAll() {
  theme.apply();
  for (const figure of shown.values()) figure.draw();
  for (const swatch of document.querySelectorAll('canvas.swatch')) swatch.redraw();
}

function axis(title, more = {}) {
  return {
    title: {display: Boolean(title), text: title, color: theme.colour('--quiet')},
    grid: {color: theme.colour('--line'), borderColor: theme.colour('--strong-line')},
    ticks: {color: theme.colour('--quiet'), maxRotation: 0, autoSkipPadding: 10, ...more.ticks},
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'ticks')),
  };
}

// Removes trailing zeros of an axis label.
const tick = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '').replace(/^0\s+ns$/, '0');

// Ticks of a logarithmic axis: powers of ten, with 2 and 5 times them if there are few.
function decades(scale) {
  const from = Math.floor(Math.log10(scale.min)), to = Math.ceil(Math.log10(scale.max));
  const ticks = (factors, step) => {
    const list = [];
    for (let power = from; power <= to; power += step) {
      for (const factor of factors) list.push({value: factor * 10 ** power});
    }
    return list.filter(({value}) => value >= scale.min * 0.999 && value <= scale.max * 1.001);
  };
  const tens = ticks([1], Math.max(1, Math.ceil((to - from) / 9)));
  const found = tens.length > 2 ? tens : ticks([1, 2, 5], 1);
  if (found.length > 1) scale.ticks = found;
}

// Without its middle, where names that belong together differ least.
function shortened(text, most = 18) {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}

function commonStart(texts) {
  let length = 0;
  while (length < texts[0].length && texts.every((text) => text[length] === texts[0][length])) ++length;
  return length;
}

// Shortened texts that differ wherever the texts do: those that would become equal lose what they
// have in common instead.
function shortenedAll(texts, most) {
  const short = texts.map((text) => shortened(text, most));
  return texts.map((text, i) => {
    const equal = unique(texts.filter((_, other) => short[other] === short[i]));
    if (equal.length === 1) return short[i];
    const reversed = equal.map((one) => [...one].reverse().join(''));
    const start = commonStart(equal);
    const end = Math.min(commonStart(reversed), Math.min(...equal.map((one) => one.length)) - start);
    const own = text.slice(start, text.length - end);
    // The end of what they share, as much of it as there is room for.
    const room = Math.max(0, most - 2 - own.length);
    return `…${text.slice(Math.max(0, start - room), start)}${own.slice(0, most)}${end > 0 ? '…' : ''}`;
  });
}

// Whether a linear axis would hide the smaller medians: some are more than 100 times others.
function isWide(spreads) {
  const medians = spreads.filter((one) => one && Number.isFinite(one.median)).map((one) => one.median);
  return medians.length > 1 && Math.min(...medians) > 0 && Math.max(...medians) > 100 * Math.min(...medians);
}

const LETTER = 6.2, LABELS = 0.34;  // pixels per letter; the part of a chart's width for its labels
const lettersFor = (width) => Math.max(14, Math.min(42, Math.floor(width * LABELS / LETTER)));

// Labels of an axis, shortened until they are as narrow as their part of the chart: capitals are wider
// than other letters.
function fittedLabels(chart, texts) {
  const brush = chart.ctx;
  brush.save();
  brush.font = `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
  const room = Math.max(14 * LETTER, Math.min(42 * LETTER, chart.width * LABELS));
  let letters = lettersFor(chart.width) + 1, labels;
  do {
    labels = shortenedAll(texts, --letters);
  } while (letters > 8 && labels.some((label) => brush.measureText(label).width > room));
  brush.restore();
  return labels;
}

const BAR = 16, GAP = 13;  // pixels
const LEAST_HEIGHT = 112;  // an axis gets at most half of it, and needs room for its title

// Horizontal bars: a row per category, in it a bar per series. `spreads[series][category]` is a
// spread or null. Dataset s has the style of series styles[s]; with a single dataset, bar c that of
// series categoryStyles[c].
function barChart({title, figure, categories, names, spreads, notes, styles, categoryStyles, tableOf}) {
  const styleOf = (s) => styles ? styles[s] : s;
  const used = (spread) => spread && Number.isFinite(spread.median);
  const most = Math.max(0, ...spreads.flat().filter(used).map((one) => {
    const range = rangeOf(one);
    return Math.max(one.median, range ? range.high : 0);
  }));
  const wide = isWide(spreads.flat());
  const least = wide ? 10 ** Math.floor(Math.log10(Math.min(...spreads.flat().filter(used).map((one) => one.median)) / 2)) : 0;
  const longest = Math.max(0, ...spreads.flat().filter(used).map((one) => figureText(figure, one.median).length));
  const sentences = categories.map((category, c) => `${category}: ` + names.map((name, s) => {
    const spread = spreads[s][c];
    const note = notes && notes[s][c];
    if (!used(spread)) return note ? `${name} ${note}` : `${name} not measured`;
    const range = rangeText(figure, spread);
    return `${name} ${figureText(figure, spread.median)}${range ? ` (${range})` : ''}`;
  }).join(', '));
  return chartFigure({
    title,
    height: Math.max(LEAST_HEIGHT, categories.length * (names.length * BAR + (names.length > 1 ? GAP : 5)) + (names.length > 1 ? 82 : 52)),
    words: `Bar chart: ${title}, ${FIGURES[figure].title}. ${sentences.join('; ')}.`,
    make: () => ({
      type: 'bar',
      plugins: [whiskers],
      data: {
        labels: categories,
        datasets: names.map((name, s) => ({
          label: name,
          data: spreads[s].map((one) => used(one) ? one.median : null),
          ranges: spreads[s].map((one) => {
            const range = used(one) ? rangeOf(one) : null;
            return range && [range.low, range.high, range.sure];
          }),
          texts: spreads[s].map((one) => used(one) ? figureText(figure, one.median) : ''),
          backgroundColor: categoryStyles ? categoryStyles.map(patternOf) : patternOf(styleOf(s)),
          borderColor: categoryStyles ? categoryStyles.map(colourOf) : colourOf(styleOf(s)),
          borderWidth: 1,
          barThickness: BAR - 3,
        })),
      },
      options: {
        indexAxis: 'y',
        layout: {padding: {right: longest * LETTER + 14}},  // for the values
        scales: {
          x: axis([FIGURES[figure].unit, FIGURES[figure].more ? '' : 'less is better', wide ? 'logarithmic' : '']
              .filter(Boolean).join(', '), {
            type: wide ? 'logarithmic' : 'linear',
            beginAtZero: !wide,
            min: wide ? least : undefined,
            suggestedMax: most,
            afterBuildTicks: wide ? decades : undefined,
            ticks: {callback: (value) => tick(figureText(figure, value)), maxTicksLimit: 6},
          }),
          y: axis('', {
            grid: {display: false, borderColor: theme.colour('--strong-line')},
            ticks: {
              color: theme.colour('--text'),
              callback(value, i) { return fittedLabels(this.chart, categories)[i]; },
              autoSkip: false,
            },
          }),
        },
        plugins: {legend: {display: names.length > 1, position: 'bottom', labels: {color: theme.colour('--text'), boxHeight: 9}},
          tooltip: {callbacks: {label: (item) => {
          const spread = spreads[item.datasetIndex][item.dataIndex];
          const range = rangeText(figure, spread);
          return `${item.dataset.label}: ${withUnit(figure, spread.median)}${range ? ` (${range})` : ''}`;
        }}}},
      },
    }),
    tableOf: tableOf || (() => table(`${title}, median with interval or range`, ['', ...names],
        categories.map((category, c) => [category, ...names.map((name, s) => {
          const spread = spreads[s][c];
          if (!used(spread)) return (notes && notes[s][c]) || '–';
          return spreadCell(figure, spread);
        })]))),
  });
}

function spreadCell(figure, spread) {
  if (!spread) return '–';
  const range = rangeText(figure, spread);
  return {text: figureText(figure, spread.median), value: spread.median, range: range && `(${range})`};
}

// Curves. `lines` are {name, points: [{x, y}]}; a logarithmic axis cannot show zero.
function lineChart({title, xTitle, yTitle, xLabels, lines, logarithmic, text, caption, dots, tableOf,
                    words, xText, xTicks, xRange, letters = 12, height = 280}) {
  const xAxis = () => {
    if (xLabels) {
      const short = shortenedAll(xLabels.map(String), letters);
      return axis(xTitle, {type: 'category', offset: Boolean(dots), ticks: {callback: (value, i) => short[i]}});
    }
    if (!xTicks) return axis(xTitle, {type: 'linear', ticks: xText ? {callback: (value) => tick(xText(value))} : {}});
    const textOf = (value) => (xTicks.find((one) => one.value === value) || {text: ''}).text;
    return axis(xTitle, {
      type: 'linear', min: xRange[0], max: xRange[1],
      afterBuildTicks: (scale) => {
        scale.ticks = xTicks.filter(({value}) => value >= scale.min && value <= scale.max).map(({value}) => ({value}));
      },
      ticks: {callback: textOf},
    });
  };
  const most = Math.max(0, ...lines.flatMap((line) => (line.ranges || []).filter(Boolean).map((range) => range[1])));
  return chartFigure({
    title,
    height,
    words,
    caption,
    tableOf,
    make: () => ({
      type: 'line',
      plugins: lines.some((line) => line.ranges) ? [whiskers] : [],
      data: {
        labels: xLabels,
        datasets: lines.map((line, i) => ({
          label: line.name,
          data: line.points,
          ranges: line.ranges,
          borderColor: colourOf(line.style ?? i),
          backgroundColor: colourOf(line.style ?? i),
          borderDash: dots ? [] : dashOf(line.style ?? i),
          borderWidth: 2,
          pointStyle: pointOf(line.style ?? i),
          pointRadius: dots ? 4 : line.points.length > 40 ? 0 : 3,
          showLine: !dots,
          spanGaps: false,
          clip: 8,
        })),
      },
      options: {
        layout: {padding: {top: 6, right: 8}},
        interaction: {mode: 'nearest', intersect: false, axis: dots ? 'xy' : 'x'},
        scales: {
          x: xAxis(),
          y: axis(yTitle, {
            type: logarithmic ? 'logarithmic' : 'linear',
            beginAtZero: !logarithmic,
            suggestedMax: most || undefined,  // includes whiskers
            afterBuildTicks: logarithmic ? decades : undefined,
            ticks: {callback: (value) => tick(text(value)), maxTicksLimit: logarithmic ? 30 : 8,
                    autoSkip: !logarithmic},
          }),
        },
        plugins: {
          legend: {
            display: lines.length > 1,
            position: 'bottom',
            labels: {usePointStyle: true, color: theme.colour('--text'), boxHeight: 7},
          },
          tooltip: {callbacks: {
            ...(xText ? {title: ([item]) => xText(item.parsed.x)} : {}),
            label: (item) => `${item.dataset.label}: ${text(item.parsed.y)}`,
          }},
        },
      },
    }),
  });
}
