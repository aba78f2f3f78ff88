// Builds the page.

theme.apply();
document.getElementById('theme').replaceWith(Object.assign(
    segments('Colours', [['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']], 'auto', (choice) => {
      theme.choice = choice;
      redrawAll();
    }), {id: 'theme'}));
theme.preferred.addEventListener('change', redrawAll);

if (data.devices) {
  showHistory(data);
} else {
  showPredictions(data);
  showSummary(data);
  showComparison(data);
  showRanking(data);
  showIndexes(data);
  showWriteCaches(data);
  showResults(data);
  showMeasurements(data);
  showWork(data);
  showWarnings(data);
  showEnvironment(data);
  showMethod(data);
}

document.getElementById('contents').append(element('ul', {},
    [...document.querySelectorAll('main h2')].map(
        (heading) => element('li', {}, element('a', {href: `#${heading.id}`}, heading.textContent)))));

// A link to a comparison from outside.
const target = document.getElementById(location.hash.slice(1));
if (target) {
  openBelow(target);
  target.scrollIntoView();
}

// In print: light colours, and the tables of the charts, but not all samples.
let opened = [];
window.addEventListener('beforeprint', () => {
  theme.printing = true;
  document.body.classList.add('paper');  // charts are drawn as wide as they will be printed
  redrawAll();
  opened = [...document.querySelectorAll('main details:not([open]):not(.long)')];
  for (const details of opened) {
    details.fillNow();
    details.open = true;
  }
});
window.addEventListener('afterprint', () => {
  theme.printing = false;
  document.body.classList.remove('paper');
  redrawAll();
  for (const details of opened) details.open = false;
});
