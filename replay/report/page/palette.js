// Colours of Okabe and Ito, "Color Universal Design" (2008), which are distinguishable with any
// kind of colour vision. Neighbours also differ in lightness. Each colour has a pattern, so that
// colour is never the only distinction.

const COLOURS = {
  light: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7a7f87', '#b8a800'],
  dark: ['#4aa8e0', '#f0b23c', '#2fc096', '#e09fc2', '#8fd0f5', '#f08144', '#a4abb5', '#f0e442'],
};
const POINTS = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'cross', 'dash'];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4], [1, 2], [6, 2, 1, 2, 1, 2]];

// For counts: viridis (Smith and van der Walt 2015), in which lightness alone orders the values.
// The used part starts at three times the contrast of the page and leads away from it, so that a
// single operation stays visible (WCAG 2.1, 1.4.11).
const VIRIDIS = [[68, 1, 84], [71, 45, 123], [59, 82, 139], [44, 114, 142], [33, 145, 140],
                 [40, 174, 128], [94, 201, 98], [173, 220, 48], [253, 231, 37]];
const HEAT = {light: [0.56, 0], dark: [0.4, 1]};

// `share`: from 0 (one operation) to 1 (the maximum).
function heatColour(share) {
  const [from, to] = HEAT[theme.name()];
  const at = (from + (to - from) * share) * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const mixed = VIRIDIS[below].map((part, i) =>
    Math.round(part + (VIRIDIS[below + 1][i] - part) * (at - below)));
  return `rgb(${mixed.join(', ')})`;
}

const theme = {
  choice: 'auto',
  printing: false,
  preferred: window.matchMedia('(prefers-color-scheme: dark)'),
  name() {
    if (this.printing) return 'light';
    return this.choice === 'auto' ? (this.preferred.matches ? 'dark' : 'light') : this.choice;
  },
  apply() { document.documentElement.dataset.theme = this.name(); },
  colour(variable) {
    return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  },
};

// Colours repeat after eight series, with other patterns, dashes and points.
const colourOf = (series) => COLOURS[theme.name()][series % COLOURS.light.length];
const variantOf = (series) => (series + 3 * Math.floor(series / COLOURS.light.length)) % COLOURS.light.length;
const pointOf = (series) => POINTS[variantOf(series)];
const dashOf = (series) => DASHES[variantOf(series)];

// Fills of bars: plain, then stripes, dots and others in the page's colour over the series' colour.
function patternOf(series) {
  const colour = colourOf(series);
  const kind = variantOf(series);
  if (kind === 0) return colour;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const brush = tile.getContext('2d');
  brush.fillStyle = colour;
  brush.fillRect(0, 0, 8, 8);
  brush.strokeStyle = brush.fillStyle = theme.colour('--card');
  brush.globalAlpha = 0.55;
  brush.lineWidth = 1.6;
  const line = (x1, y1, x2, y2) => {
    brush.beginPath();
    brush.moveTo(x1, y1);
    brush.lineTo(x2, y2);
    brush.stroke();
  };
  const rising = () => [[-2, 2, 2, -2], [-2, 10, 10, -2], [6, 10, 10, 6]].forEach((l) => line(...l));
  const falling = () => [[-2, 6, 2, 10], [-2, -2, 10, 10], [6, -2, 10, 2]].forEach((l) => line(...l));
  const dots = () => [[2, 2], [6, 6]].forEach(([x, y]) => brush.fillRect(x - 1, y - 1, 2, 2));
  const upright = () => line(4, 0, 4, 8);
  const level = () => line(0, 4, 8, 4);
  [null, [rising], [dots], [falling], [upright], [level], [rising, falling], [upright, level]][kind]
      .forEach((draw) => draw());
  return brush.createPattern(tile, 'repeat');
}

// A legend symbol: the fill of a series' bars, and its line.
function swatchOf(series) {
  const swatch = element('canvas', {class: 'swatch', width: 72, height: 28, 'aria-hidden': 'true'});
  swatch.redraw = () => {
    const brush = swatch.getContext('2d');
    brush.setTransform(2, 0, 0, 2, 0, 0);
    brush.clearRect(0, 0, 36, 14);
    brush.fillStyle = patternOf(series);
    brush.fillRect(0, 0, 14, 14);
    brush.strokeStyle = colourOf(series);
    brush.lineWidth = 2;
    brush.setLineDash(dashOf(series));
    brush.beginPath();
    brush.moveTo(17, 7);
    brush.lineTo(36, 7);
    brush.stroke();
  };
  swatch.redraw();
  return swatch;
}

// Colours a cell of a heat map: from 0 (worst) to 1 (best), with readable text.
function shadeCell(cell, share) {
  const colour = heatColour(share);
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  cell.style.background = colour;
  cell.style.color = 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#000' : '#fff';
}
