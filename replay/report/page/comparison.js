// Comparison of two results, as in `filereel compare`.

const VERDICT_SIGNS = {slower: '▼', faster: '▲', same: '=', 'cannot tell': '?'};

// A text with a capital letter and a full stop.
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');
}

// A time; below it the operations per second of a time per operation.
const timeCell = (time, perSecond) => time === undefined ? '–' :
    {text: seconds(time), value: time, range: perSecond === undefined ? undefined : `(${number(perSecond)}/s)`};

// Mount options and the like with room for breaks between lines.
const spaced = (text) => text.replaceAll(/,(?=\S)/g, ', ');

function showComparison(data) {
  if (data.comparison) fillComparison(section('Comparison'), data.comparison);
}

// Of a comparison or ranking.
function addWarnings(part, {warnings}) {
  for (const one of warnings) {
    part.append(element('p', {class: 'banner'}, named(sentence(one.text)), ' ', named(sentence(one.next_step))));
  }
}

// The verdicts of `filereel compare`.
function fillComparison(part, comparison, withWarnings = true) {
  part.append(element('p', {}, 'Base: ', named(comparison.base), '; new: ', named(comparison.fresh), '. Overall: ',
      element('strong', {class: `verdict-${comparison.overall}`}, comparison.overall), '. ',
      'A change below ', share(comparison.threshold), ' of the time is ignored; time, tail and stalls are judged. ', named(sentence(comparison.promise))));
  if (comparison.control) part.append(element('p', {}, named(sentence(comparison.control))));
  if (withWarnings) addWarnings(part, comparison);
  if (comparison.changes.length) {
    part.append(table('Differences, which may be the cause',
        ['', comparison.base, comparison.fresh],
        comparison.changes.map((one) => [named(one.what), named(spaced(one.base)), named(spaced(one.fresh))]),
        {left: [1, 2]}));
  }
  part.append(table('Time for the same work (ratio above 1: slower)', ['measurement', 'verdict', `ratio (${comparison.interval_name})`, 'p (Holm)', 'provable change',
                    'base', 'new', 'samples', 'tail', 'stalls'],
      comparison.measurements.map((one) => [
        wholeWords(one.key),
        {text: `${VERDICT_SIGNS[one.verdict] || ''} ${one.verdict_text}`, class: `verdict-${one.verdict}`},
        one.ratio === undefined ? '–' : {
          text: one.ratio.toFixed(3), value: one.ratio,
          range: one.ratio_interval && `(${one.ratio_interval.map((x) => x.toFixed(3)).join('–')})`,
        },
        one.p_holm === undefined ? '–' : {text: one.p_holm < 0.001 ? '< 0.001' : one.p_holm.toFixed(3), value: one.p_holm},
        one.provable === undefined ? '–' : {text: signedShare(one.provable), value: one.provable},
        timeCell(one.base, one.base_per_s),
        timeCell(one.fresh, one.fresh_per_s),
        `${one.base_samples}, ${one.fresh_samples}`,
        one.tail === undefined ? '–' : {text: one.tail.toFixed(2), value: one.tail},
        one.stalls ? {text: one.stalls.map(whole).join(' → '), value: one.stalls[1]} : '–',
      ])));
  if (comparison.basis) part.append(element('p', {class: 'hint'}, named(sentence(comparison.basis))));
  const changed = comparison.measurements.filter((one) => one.evidence);
  if (changed.length) {
    part.append(element('ul', {class: 'findings'}, changed.map(
        (one) => element('li', {}, named(one.key), ': ', one.verdict_text, ', ', one.evidence))));
  }
  const unclear = comparison.measurements.filter((one) => one.reason);
  if (unclear.length) {
    part.append(element('ul', {class: 'findings'}, unclear.map(
        (one) => element('li', {}, named(one.key), ': ', one.reason))));
  }
  const alone = [...comparison.only_base.map((key) => [key, comparison.base]),
                 ...comparison.only_fresh.map((key) => [key, comparison.fresh])];
  if (alone.length) {
    part.append(collapsible('Measured in only one result', () => element('ul', {}, alone.map(
        ([key, side]) => element('li', {}, named(key), ' (', named(side), ')')))));
  }
}
