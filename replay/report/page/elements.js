// The data of the page, and helpers that create elements. Text from results becomes text nodes
// only.

const data = JSON.parse(document.getElementById('report-data').textContent);

// Children are nodes, texts and lists of children.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'class') made.className = value;
    else if (key === 'onclick') made.addEventListener('click', value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === '') continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

// Names of people, drives and files: isolated, in any writing direction.
const named = (text) => element('bdi', {}, text);

// The same with its words whole: an option such as --all breaks into no two lines.
const wholeWords = (text) => element('bdi', {}, text.split(' ').flatMap((word, i) => [i > 0 ? ' ' : '',
  word.length < 24 ? element('span', {class: 'word'}, word) : word]));

const unique = (list) => [...new Set(list)];

let usedIds = 0;
const freshId = (stem) => `${stem}-${++usedIds}`;

// A section of the page with its heading, listed in the contents.
function section(title, ...children) {
  const id = freshId('part');
  const part = element('section', {'aria-labelledby': id}, element('h2', {id}, title), children);
  document.getElementById('main').append(part);
  return part;
}

// A cell: a text, a node, or {text, value, range, class, left}. `value` is the unrounded figure.
function cell(kind, content, left) {
  if (content === null || content === undefined) content = '–';
  if (content instanceof Node || typeof content !== 'object') {
    return element(kind, left ? {class: 'text'} : {}, content);
  }
  const made = element(kind, {class: content.left || left ? 'text' : content.class}, content.text);
  if (content.value !== undefined) made.dataset.value = content.value;
  if (content.range) made.append(' ', element('span', {class: 'range'}, content.range));
  if (content.class && (content.left || left)) made.classList.add(content.class);
  return made;
}

// Marks tables that are wider than the page: style sheets tell how to see the rest.
const widths = new ResizeObserver((entries) => {
  for (const {target} of entries) {
    const scroller = target.closest('.scroll');
    scroller.classList.toggle('wide', scroller.scrollWidth > scroller.clientWidth + 1);
  }
});

// A table that scrolls horizontally. `left` lists the text columns besides the first.
function table(caption, heading, rows, {left = [], rowClass = () => null} = {}) {
  const head = element('tr', {}, heading.map((text, i) => {
    const made = cell('th', text, left.includes(i));
    made.setAttribute('scope', 'col');
    return made;
  }));
  const body = rows.map((row) => element('tr', {class: rowClass(row)}, row.map((content, i) => {
    const made = cell(i === 0 ? 'th' : 'td', content, i === 0 || left.includes(i));
    if (i === 0) made.setAttribute('scope', 'row');
    return made;
  })));
  const made = element('table', {}, element('caption', {}, caption), element('thead', {}, head), element('tbody', {}, body));
  const scroller = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption}, made);
  widths.observe(scroller);
  widths.observe(made);
  return scroller;
}

// A details element. Its content is created when it is first opened.
function collapsible(summary, make) {
  const details = element('details', {}, element('summary', {}, summary));
  const fill = () => {
    if (details.childElementCount === 1) details.append(make());
  };
  details.addEventListener('toggle', () => details.open && fill());
  details.fillNow = fill;
  return details;
}

// A group of buttons, one of them pressed. `options` are pairs of value and label.
function segments(label, options, chosen, onchoose) {
  const buttons = options.map(([value, text]) => element('button', {
    type: 'button',
    'aria-pressed': String(value === chosen),
    onclick: () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button(value)));
      onchoose(value);
    },
  }, text));
  const button = (value) => buttons[options.findIndex(([other]) => other === value)];
  return element('div', {class: 'segments', role: 'group', 'aria-label': label}, buttons);
}

function selection(label, options, onchoose, first) {
  const id = freshId('choice');
  const list = element('select', {id},
      options.map(([value, text]) => element('option', {value, selected: value === first}, text)));
  list.addEventListener('change', () => onchoose(list.value));
  return element('label', {for: id}, label + ' ', list);
}

function facts(pairs) {
  return element('dl', {class: 'facts'}, pairs.filter(([, value]) => value).map(
      ([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}
