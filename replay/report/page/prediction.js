// The prediction of a program's run time, as by `filereel predict`.

function predictionTable(one) {
  return table('Expected run time', ['volume', 'rank', 'expected time', one.interval_name, 'compared with the recording', 'repetitions'],
      one.times.map((time) => [
        named(time.volume), time.rank,
        time.median_s === undefined ? '–' : {text: seconds(time.median_s), value: time.median_s},
        time.interval ? time.interval.map(seconds).join(' to ') : '–',
        time.median_s === undefined || !(one.recorded_s > 0) ? '–'
            : {text: `${number(time.median_s / one.recorded_s)} ×`, value: time.median_s / one.recorded_s,
               range: time.interval && `(${time.interval.map((end) => number(end / one.recorded_s)).join('–')})`},
        whole(time.runs),
      ]));
}

// A volume has one colour on the whole page: that of its series.
function seriesOfTime(time, place) {
  const isOn = ({target, file_system: name}) => target === time.target && name === time.file_system;
  const found = data.series.findIndex((one) => one.file_system === time.file_system &&
      data.results[one.result].volumes.some(isOn));
  return found < 0 ? place : found;
}

function predictionChart(one) {
  const known = one.times.filter((time) => time.interval);
  if (known.length < 2) return null;
  return barChart({
    title: 'Expected run time',
    figure: 'elapsed_s',
    categories: known.map((time) => time.volume),
    names: ['expected time'],
    spreads: [known.map((time) => ({
      median: time.median_s,
      interval_95: {low: time.interval[0], high: time.interval[1]},
    }))],
    categoryStyles: known.map(seriesOfTime),
  });
}

function showPrediction(one, heading) {
  const part = section(heading);
  part.append(element('p', {}, 'It was recorded as ', named(one.reel), ' and took ',
      seconds(one.recorded_s), ' there. ', element('strong', {}, named(one.conclusion))));
  if (one.unknown) part.append(element('p', {class: 'banner'}, named(one.unknown)));
  for (const remark of one.remarks) part.append(element('p', {class: 'banner'}, named(sentence(remark))));
  const chart = element('div');
  part.append(predictionTable(one), chart);
  const figure = predictionChart(one);
  if (figure) place(chart, [figure]);
  const without = one.times.filter((time) => time.reason);
  if (without.length) {
    part.append(element('h3', {}, 'Without a prediction'), element('ul', {class: 'findings'}, without.map(
        (time) => element('li', {}, named(time.volume), ': ', named(time.reason)))));
  }
  if (one.limits.length) {
    part.append(element('h3', {}, 'What takes the time'), element('ul', {class: 'findings'}, one.limits.map(
        (limit) => element('li', {}, named(limit.volume), ': ', named(limit.text)))));
  }
  part.append(element('p', {class: 'hint'}, named(sentence(one.reliability))));
}

// The expected times of several programs: a row for each, a column for each volume.
function showAllTimes(all) {
  const volumes = unique(all.flatMap((one) => one.times.map(({volume}) => volume)));
  section('Predictions', table('Expected run times, with 95 % intervals between sessions', ['', ...volumes.map(named)],
      all.map((one) => [named(one.program), ...volumes.map((volume) => {
        const time = one.times.find((other) => other.volume === volume);
        if (!time || time.median_s === undefined) return '–';
        return {text: seconds(time.median_s), value: time.median_s, range: time.interval && `(${time.interval.map(seconds).join(' to ')})`};
      })])));
}

// The title of the page is that of the prediction.
function showPredictions(data) {
  if (data.predictions.length === 0) return;
  const [first, ...others] = data.predictions, all = data.predictions;
  const title = others.length === 0 ? ['How long will ', wholeWords(first.program), ' take?'] : `Predictions of ${all.length} recordings`;
  document.getElementById('title').replaceChildren(...[title].flat());
  document.getElementById('subtitle').replaceChildren(
      others.length === 0 ? named(first.conclusion) : 'Each program has its own answer below.');
  if (others.length === 0) return showPrediction(first, 'Prediction');
  showAllTimes(all);
  // A command line is too long for a heading and the contents.
  const headings = shortenedAll(all.map((one) => one.program), 40);
  all.forEach((one, i) => showPrediction(one, `Prediction of ${headings[i]}`));
}
