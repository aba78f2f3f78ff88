// Cells of a chart with a colour each: how many intervals make one, its colours, and what it tells.

const LEAST_CELL = 2.5;    // minimum cell width in pixels: intervals are merged to reach it
const LEGEND_HEIGHT = 42;  // pixels above the cells
const NEAR = 16;           // pixels within which a cell is selected

// A power of two.
function intervalsPerCell(width, intervals) {
  let group = 1;
  while (width * group / intervals < LEAST_CELL && group < intervals) group *= 2;
  return group;
}

// Paints `state.shown` in the colours of their shares, and a frame around the chosen cell.
function paintCells(brush, state, shareOf) {
  for (const one of state.shown) {
    brush.fillStyle = heatColour(shareOf(one));
    // Slightly wider, to avoid seams between neighbours.
    brush.fillRect(one.left, one.top, Math.max(one.width, 1) + 0.3, Math.max(one.height, 1) + 0.3);
  }
  const chosen = state.chosen;
  if (!chosen) return;
  brush.strokeStyle = theme.colour('--text');
  brush.lineWidth = 2;
  brush.strokeRect(chosen.left - 1, chosen.top - 1, chosen.width + 2, chosen.height + 2);
}

// The scale of colours with marks of {share, text}. The first one always has room.
function colourLegend(brush, area, title, marks) {
  const ink = theme.colour('--quiet'), height = 9;
  const length = Math.min(240, area.width * 0.6);
  brush.font = `11px ${Chart.defaults.font.family}`;
  brush.textBaseline = 'alphabetic';
  brush.fillStyle = ink;
  brush.textAlign = 'left';
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
  const half = (text) => brush.measureText(text).width / 2;
  const end = left + marks[0].share * length - half(marks[0].text);
  let free = -Infinity;
  marks.forEach(({share: at, text}, i) => {
    const x = left + at * length;
    if (i > 0 && (x - half(text) < free + 6 || x + half(text) > end - 6)) return;
    brush.fillText(text, x, height + 15);
    brush.beginPath();
    brush.moveTo(x, height);
    brush.lineTo(x, height + 3);
    brush.stroke();
    if (i > 0) free = x + half(text);
  });
}

// Tells about a cell by pointer, finger or arrow keys: `state.words` gives two lines for one of
// `state.shown`, whose `interval` and `bin` are its place on both axes. Up and down lead to cells at
// most `state.aside` intervals away.
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
    const [first, second] = state.words(one);
    tip.replaceChildren(element('strong', {}, first), element('br', {}), second, element('br', {}),
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
    const first = 1e4;  // more than there are intervals or bins
    let next = null, least = Infinity;
    for (const one of state.shown) {
      const ahead = across ? (one.interval - now.interval) * across : (one.bin - now.bin) * up;
      const aside = across ? Math.abs(one.bin - now.bin) : Math.abs(one.interval - now.interval);
      if (ahead <= 0 || (up && aside > state.aside)) continue;
      if (ahead * first + aside < least) {
        least = ahead * first + aside;
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
