"""Reports in a browser: nothing is loaded, every chart is drawn, and the figures are the result's."""

import contextlib
import csv
import functools
import io
import json
import math
import pathlib
import re
import signal
import statistics
import sys
import unittest

from support import IntegrationTest, find, have, main, numbers, packed, wait_until, why_not

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import made_result  # noqa: E402 (its folder is not a package)

try:
    import selenium  # noqa: F401
except ImportError:  # another Python than the one that the distribution's packages are for
    sys.path.append("/usr/lib/python3/dist-packages")
with contextlib.suppress(ImportError):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "replay/golden"
SETS = ["install", "iso", "mp3", "programs", "windows"]
OPERATIONS = ["create", "read", "copy-near", "copy-far", "delete"]
FIGURES = {"MB/s (writes until durable)": "mb_per_s", "MB/s until calls return": "mb_per_s_elapsed",
           "Files/s (writes until durable)": "files_per_s",
           "Operations/s until calls return": "operations_per_s"}
# The choice of the reader, by its label.
CHOICE = """return [...document.querySelectorAll('select')].find(
    (one) => one.closest('label').textContent.startsWith(arguments[0] + ' '))"""
PHONE, DESK = 360, 1280

NO_BROWSER = None if "webdriver" in globals() and have("chromium", "chromedriver") else \
    "needs chromium, chromedriver and selenium"

# Functions for scripts. Charts of which nothing can be seen, by their titles; all of them with what
# they show; both for every choice of a list.
FUNCTIONS = """
const small = Object.assign(document.createElement('canvas'), {width: 200, height: 200});
const brush = small.getContext('2d', {willReadFrequently: true});
const blank = () => [...document.querySelectorAll('.plot canvas')].filter((canvas) => {
  if (!canvas.width || !canvas.height || !canvas.offsetWidth || !canvas.offsetHeight) return true;
  brush.clearRect(0, 0, small.width, small.height);
  brush.drawImage(canvas, 0, 0, small.width, small.height);
  const {data} = brush.getImageData(0, 0, small.width, small.height);
  return new Set(new Uint32Array(data.buffer)).size < 5;
}).map((canvas) => canvas.closest('figure').querySelector('h3').textContent);
const charts = () => [...document.querySelectorAll('.plot canvas')].map((canvas) => {
  const {labels, datasets} = Chart.getChart(canvas).data;
  return {title: canvas.closest('figure').querySelector('h3').textContent,
          words: canvas.getAttribute('aria-label'), labels,
          datasets: datasets.map(({label, data, ranges, cells}) => ({label, data, ranges, cells}))};
});
const forEachChoice = (list, get) => [...list.options].map((option, i) => {
  list.selectedIndex = i;
  list.dispatchEvent(new Event('change'));
  return get();
});
"""
BLANK = FUNCTIONS + "return blank()"
CHARTS = FUNCTIONS + "return charts()"
BLANK_OF_CHOICES = FUNCTIONS + "return forEachChoice(arguments[0], blank)"
CHARTS_OF_CHOICES = FUNCTIONS + "return forEachChoice(arguments[0], charts)"

# The labels of the bars of each chart with more than five.
LABELS = """return [...document.querySelectorAll('.plot canvas')].map((one) => Chart.getChart(one))
    .filter(({config, data}) => config.options.indexAxis === 'y' && data.labels.length > 5)
    .map(({scales}) => scales.y.ticks.map(({label}) => label))"""

# Values of bars that are drawn on their whiskers or beyond the chart, and how many there are.
BEHIND = """
const drawn = [], wrong = [], plain = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
  drawn.push({canvas: this.canvas, text, x, y, end: x + this.measureText(text).width});
  return plain.apply(this, arguments);
};
let checked = 0;
for (const canvas of document.querySelectorAll('.plot canvas')) {
  const chart = Chart.getChart(canvas);
  if (chart.config.options.indexAxis !== 'y') continue;
  chart.draw();
  chart.data.datasets.forEach((dataset, d) => chart.getDatasetMeta(d).data.forEach((bar, i) => {
    const range = dataset.ranges && dataset.ranges[i];
    if (!range) return;
    const value = drawn.find((one) => one.canvas === canvas && one.text === dataset.texts[i] && one.y === bar.y);
    ++checked;
    if (!value || value.x <= chart.scales.x.getPixelForValue(range[1]) || value.end > chart.width) {
      wrong.push([dataset.texts[i], value && value.x, range]);
    }
  }));
}
CanvasRenderingContext2D.prototype.fillText = plain;
return [wrong, checked];
"""

TABLES = """return [...document.querySelectorAll('table')].map((table) => ({
  caption: table.caption.textContent,
  heading: [...table.tHead.rows[0].cells].map((one) => one.textContent),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((one) => ({
    text: one.textContent, value: one.dataset.value === undefined ? null : Number(one.dataset.value)}))),
}))"""


def file_systems():
    """Two that can be tested here; the kernel's come first, as FUSE is slow."""
    usable = [one for one in ("ext4", "ntfs", "fat32", "xfs", "btrfs") if why_not(one) is None]
    return usable[:2]


@functools.cache
def browser():
    """One for all tests: it takes seconds to start."""
    options = webdriver.ChromeOptions()
    options.binary_location = find("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(find("chromedriver")))
    unittest.addModuleCleanup(started.quit)
    return started


def number(value):
    """As the page writes figures."""
    unit = ""
    if value >= 9999.5:
        for unit in "kMG":
            value /= 1000
            if value < 999.5:
                break
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{unit}"


def cells_of(sample, bins=68):
    """The operations of a sample by interval and bin of latency."""
    counts = numbers(sample["course"]["operations"])
    return {divmod(at, bins): count for at, count in enumerate(counts) if count}


def operations_of(samples):
    return sum(latency["count"] for sample in samples for latency in sample["latency"].values())


def contrast(a, b):
    """Of two colours, after WCAG 2.1."""
    def luminance(colour):
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def range_of(spread):
    """What a whisker shows."""
    if "interval_95" in spread:
        return [spread["interval_95"]["low"], spread["interval_95"]["high"], True]
    return None if spread["low"] == spread["high"] else [spread["low"], spread["high"], False]


@unittest.skipIf(NO_BROWSER, NO_BROWSER)
class ReportTest(IntegrationTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser()

    def open(self, page, width=DESK, scheme="light"):
        browser = self.browser
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})
        browser.get("about:blank")
        browser.get_log("performance"), browser.get_log("browser")
        self.url = pathlib.Path(page).resolve().as_uri()
        browser.get(self.url)

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def assert_quiet(self):
        """Nothing was asked of anybody, nothing went wrong, and no element was taken for text."""
        requests = []
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                requests.append(message["params"]["request"]["url"])
        self.assertEqual([one for one in requests
                          if one.split("#")[0] != self.url and not one.startswith("data:")], [])
        self.assertIn(self.url, requests)
        self.assertEqual(self.browser.get_log("browser"), [])
        self.assertEqual(self.script("return document.getElementById('main').textContent"
                                     ".match(/.{0,40}\\[object .{0,20}/g)"), None)

    def assert_drawn(self):
        self.assertEqual(self.script(BLANK), [])

    def click(self, element):
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'}); arguments[0].focus()", element)
        self.assertEqual(self.browser.switch_to.active_element, element, "has no keyboard focus")
        element.click()

    def click_through(self):
        """Everything that can be pressed, chosen and opened."""
        for i in range(len(self.all("button"))):
            button = self.all("button")[i]
            self.click(button)
            if button.find_elements(By.XPATH, "./parent::*[contains(@class, 'segments')]"):
                self.assertEqual(button.get_attribute("aria-pressed"), "true")
            self.assert_drawn()
        for i in range(len(self.all("select"))):
            choices = self.all("select")[i]
            self.assertEqual([one for one in self.script(BLANK_OF_CHOICES, choices) if one], [])
            Select(choices).select_by_index(0)
            self.assert_drawn()
        for summary in self.all("summary"):
            if not self.script("return arguments[0].parentNode.open", summary):
                self.click(summary)
            self.assertTrue(self.script("return arguments[0].parentNode.open", summary))
        self.assertEqual(self.script("return [...document.querySelectorAll('canvas[role=img]')]"
                                     ".filter((one) => one.getAttribute('aria-label').length < 20)"),
                         [])

    def choice(self, label):
        return self.script(CHOICE, label)

    def assert_fits(self):
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), PHONE)

    def report(self, *arguments):
        page = self.scratch / "page.html"
        self.filereel("report", *arguments, "-o", page)
        return page

    def edited(self, name, **changes):
        """A golden result with other members."""
        result = json.loads((GOLDEN / "fc-test-v1.json").read_text())
        result.update(changes)
        path = self.scratch / name
        path.write_text(json.dumps(result))
        return path


class RealRun(ReportTest):

    def check_bars(self, summaries, kinds):
        """Charts and their tables show the medians and ranges of the result."""
        shown = 0
        offered = [one.text for one in Select(self.choice("Metric")).options]
        for title, figure in FIGURES.items():
            if title not in offered:
                continue
            Select(self.choice("Metric")).select_by_visible_text(title)
            bars = [one for one in self.script(CHARTS) if one["datasets"][0]["ranges"] is not None
                    and one["title"].split(":")[0] in OPERATIONS]
            self.assertEqual([one["title"].split(":")[0] for one in bars], OPERATIONS)
            self.script("document.querySelectorAll('figure details').forEach("
                        "(one) => { one.open = true; one.fillNow(); })")
            tables = {one["caption"]: one for one in self.script(TABLES)}
            for chart in bars:
                operation = chart["title"].split(":")[0]
                used = figure if operation != "delete" else "files_per_s"
                self.assertEqual(chart["labels"], SETS)
                self.assertEqual([one["label"] for one in chart["datasets"]], kinds)
                name = next(name for name, code in FIGURES.items() if code == used)
                table = tables[f"{operation}: {name}, median with interval or range"]
                self.assertEqual(table["heading"][1:], kinds)
                for column, dataset in enumerate(chart["datasets"]):
                    for row, name in enumerate(SETS):
                        spread = summaries[kinds[column], name, operation][used]
                        self.assertEqual(dataset["data"][row], spread["median"])
                        self.assertEqual(dataset["ranges"][row], range_of(spread))
                        cell = table["rows"][row][column + 1]
                        self.assertEqual(cell["value"], spread["median"])
                        self.assertEqual(cell["text"].split(" ")[0], number(spread["median"]))
                        self.assertIn(number(spread["median"]), chart["words"])
                        shown += 1
        return shown

    def check_measurement(self, one, charts):
        samples = charts["Samples: " + ("Files/s (writes until durable)" if one["operation"] == "delete"
                                        else "MB/s (writes until durable)")]
        amount = "files" if one["operation"] == "delete" else "bytes"
        unit = 1 if one["operation"] == "delete" else 1e6
        for point, sample in zip(samples["datasets"][0]["data"], one["samples"], strict=True):
            self.assertEqual(point["x"], sample["run"])
            until = "elapsed_s" if one["operation"] == "read" else "durable_s"
            self.assertAlmostEqual(point["y"] * sample[until] * unit / sample[amount], 1)
        for dataset in charts["Latency percentiles"]["datasets"]:
            latencies = [sample["latency"][dataset["label"]] for sample in one["samples"]]
            longest = max(latency["max_us"] for latency in latencies)
            self.assertAlmostEqual(dataset["data"][-1]["y"] / longest, 1, 3)
            count = sum(latency["count"] for latency in latencies)
            self.assertAlmostEqual(dataset["data"][-1]["x"], max(math.log10(count), math.log10(2)), 3)
        (heat,) = [chart for title, chart in charts.items() if title.startswith("Latency over time")]
        run = int(heat["title"].split()[-1])
        self.assertEqual(sum(cell["count"] for cell in heat["datasets"][0]["cells"]),
                         operations_of(sample for sample in one["samples"] if sample["run"] == run))
        shares = charts["Time by kind of operation"]
        totals = {kind: sum(sample["latency"][kind]["total_us"] for sample in one["samples"])
                  for kind in one["samples"][0]["latency"]}
        for kind, share in zip(shares["labels"], shares["datasets"][0]["data"], strict=True):
            self.assertAlmostEqual(share, totals[kind] / sum(totals.values()))

    def test_the_report_of_a_run_shows_its_figures_and_loads_nothing(self):
        kinds = file_systems()
        if len(kinds) < 2:
            self.skipTest("needs two file systems, as root")
        self.filereel("run", "--near", f"image:{self.scratch}/a.img,size=256M",
                      "--far", f"image:{self.scratch}/b.img,size=256M", "--fs", ",".join(kinds),
                      "--set", ",".join(SETS), "--scale", "0.0005", "--runs", "2",
                      "--json", "r.json", "--html", "r.html", timeout=400)
        result = self.result()
        measured = result["measurements"]
        self.assertEqual(len(measured), 2 * 5 * 5)
        summaries = {(one["file_system"], one["set"], one["operation"]): one["summary"]
                     for one in measured}
        self.open(self.scratch / "r.html")
        self.assert_drawn()
        self.assertEqual(self.check_bars(summaries, kinds), 3 * 2 * 5 * 5)
        shown = self.script(CHARTS_OF_CHOICES, self.choice("Measurement"))
        for one, charts in zip(measured, shown, strict=True):
            self.check_measurement(one, {chart["title"]: chart for chart in charts})
        self.click_through()
        table = next(one for one in self.script(TABLES) if one["caption"] == "All samples")
        samples = [sample for one in measured for sample in one["samples"]]
        self.assertEqual([row[3]["value"] for row in table["rows"]],
                         [sample["elapsed_s"] for sample in samples])
        self.assertEqual([row[4]["value"] for row in table["rows"]],
                         [sample["durable_s"] for sample in samples])
        warnings = self.script("return document.querySelector('#warnings').textContent")
        for warning in result["warnings"]:
            self.assertIn(warning["text"], warnings)
        self.assert_quiet()

        # The same from the result file, apart from the file's name.
        data = "return JSON.parse(document.getElementById('report-data').textContent)"
        from_run = self.script(data)
        self.open(self.report("r.json"), PHONE)
        self.assert_drawn()
        self.assert_fits()
        from_file = self.script(data)
        self.assertEqual(from_file["results"][0].pop("file"), "r.json")
        from_run["results"][0].pop("file")
        self.assertEqual(from_file, from_run)
        self.assert_quiet()

    def replayed(self, label):
        self.filereel("replay", "app-git-clone", self.folder(label), "--runs", "3", "--label", label,
                      "--json", f"{label}.json", timeout=300)
        return self.scratch / f"{label}.json"

    def heat_map(self):
        (chart,) = [one for one in self.script(CHARTS) if one["title"].startswith("Latency over time")]
        return chart

    def test_a_replay_shows_every_operation_by_time_and_latency(self):
        path = self.replayed("one")
        (measured,) = json.loads(path.read_text())["measurements"]
        samples = {sample["run"]: sample for sample in measured["samples"]}
        self.open(self.report(path))
        choices = Select(self.all(".wide select")[0])
        runs = set()
        for i, option in enumerate(choices.options):
            choices.select_by_index(i)
            chart = self.heat_map()
            cells = {(one["interval"], one["bin"]): one["count"] for one in chart["datasets"][0]["cells"]}
            if option.text.startswith("all 3 repetitions"):
                self.assertEqual(sum(cells.values()), operations_of(samples.values()))
            else:
                run = int(option.text.split()[1])
                runs.add(run)
                self.assertEqual(cells, cells_of(samples[run]))
                self.assertEqual(sum(cells.values()), operations_of([samples[run]]))
        self.assertEqual(runs, set(samples))
        self.click_through()

        # Tables: those of the heat map and of the slowest operations.
        tables = {one["caption"]: one for one in self.script(TABLES)}
        chosen = cells_of(samples[int(self.heat_map()["title"].split()[-1])])
        rows = tables["Operations by latency and time"]["rows"]
        self.assertEqual(len(rows), len({bin for _, bin in chosen}))
        self.assertEqual(sum(row[1]["value"] for row in rows), sum(chosen.values()))
        self.assertEqual(sum(cell["value"] for row in rows for cell in row[2:]), sum(chosen.values()))
        slowest = sorted(((sample["run"], one) for sample in samples.values() for one in sample["slowest"]),
                         key=lambda pair: -pair[1]["latency_us"])[:32]
        shown = tables["The slowest operations of all repetitions"]
        self.assertEqual([(row[0]["value"], row[1]["text"], row[2]["text"], row[3]["value"], row[4]["value"],
                           row[5]["text"], row[6]["value"], row[7]["text"], row[8]["value"])
                          for row in shown["rows"]],
                         [(one["latency_us"], one["operation"], one["path"], one["offset"], one["length"],
                           str(run), one["at_s"], str(one["thread"]), one["position"])
                          for run, one in slowest])
        self.assert_quiet()

    def test_a_cell_tells_its_count_to_mouse_finger_and_keyboard(self):
        path = self.replayed("one")
        self.open(self.report(path))
        canvas = self.all(".wide canvas")[0]
        cells = {cell["count"] for cell in self.heat_map()["datasets"][0]["cells"]}
        # Some cells as they are drawn: the middle, in pixels of the window, and the count.
        drawn = """
            arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});
            const {left, top} = arguments[0].getBoundingClientRect();
            const {shown} = Chart.getChart(arguments[0]).options.plugins.heat.state;
            return shown.filter((one, i) => i % Math.ceil(shown.length / 9) === 0).map((one) =>
                ({x: left + one.left + one.width / 2, y: top + one.top + one.height / 2, count: one.count}));"""

        def told():
            """The count that is shown; nothing where none is."""
            tip = self.all(".tip")[0]
            if not tip.is_displayed():
                return None
            count = int(tip.text.split(" operation")[0].replace("\u202f", ""))
            self.assertRegex(tip.text, r"(?s)\d.* to .*s\n.* to .*s$")
            return count

        canvas.send_keys("\ue014")  # arrow to the right
        self.assertIn(told(), cells)
        canvas.send_keys("\ue00c")  # escape
        self.assertIsNone(told())

        for cell in self.script(drawn, canvas):
            self.browser.execute_cdp_cmd("Input.dispatchMouseEvent",
                                         {"type": "mouseMoved", "x": cell["x"], "y": cell["y"]})
            self.assertIn(cell["count"], cells)
            self.assertEqual(told(), cell["count"])
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 1, "y": 1})
        self.assertIsNone(told())

        # On a phone intervals may be drawn together, so that a finger finds them.
        self.open(path.with_name("page.html"), PHONE)
        canvas = self.all(".wide canvas")[0]
        for cell in self.script(drawn, canvas):
            point = {"x": cell["x"], "y": cell["y"]}
            self.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
            self.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            self.assertEqual(told(), cell["count"])
        self.assert_fits()

    def test_a_single_operation_stands_out_from_none_and_from_many(self):
        self.open(self.report(self.replayed("one")))
        for scheme in ("Light", "Dark"):
            next(one for one in self.all("#theme button") if one.text == scheme).click()
            page, single, most = self.script(r"""
                const {options, canvas} = Chart.getChart(document.querySelector('.wide canvas'));
                const {shown} = options.plugins.heat.state;
                const brush = canvas.getContext('2d'), scale = devicePixelRatio;
                const middle = (one) => [...brush.getImageData((one.left + one.width / 2) * scale,
                                        (one.top + one.height / 2) * scale, 1, 1).data].slice(0, 3);
                const counts = shown.map((one) => one.count);
                const page = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
                return [page, middle(shown.find((one) => one.count === 1)),
                        middle(shown.find((one) => one.count === Math.max(...counts)))];""")
            self.assertGreater(contrast(page, single), 2.8, scheme)
            self.assertGreater(contrast(single, most), 2.8, scheme)

    def test_percentiles_of_several_results_lie_in_one_chart(self):
        paths = [self.replayed("one"), self.replayed("two")]
        self.open(self.report(*paths))
        (chart,) = [one for one in self.script(CHARTS) if one["title"].startswith("Latency percentiles: ")]
        self.assertEqual([one["label"] for one in chart["datasets"]], ["one", "two"])
        kind = chart["title"].split(": ")[1]
        for path, dataset in zip(paths, chart["datasets"], strict=True):
            (measured,) = json.loads(path.read_text())["measurements"]
            longest = max(sample["latency"][kind]["max_us"] for sample in measured["samples"])
            self.assertAlmostEqual(dataset["data"][-1]["y"] / longest, 1, 3)
        self.click_through()
        self.assert_quiet()

    def test_an_interrupted_run_has_a_report_that_says_so(self):
        running = self.start("run", "--near", self.folder("near"), "--far", self.folder("far"),
                             "--runs", "1000", "--set", self.many_small_files(200), "--json",
                             "r.json", "--html", "r.html")
        self.assertTrue(wait_until(lambda: self.steps_measured() >= 2, 30))
        running.kill(signal.SIGINT)
        self.assertEqual(running.finish().code, 130)
        self.assertFalse(self.result()["complete"])
        self.open(self.scratch / "r.html")
        self.assertEqual(len(self.all(".banner.incomplete")), 1)
        self.assertIn("no: the run ended", self.all("main")[0].text)
        body = self.browser.find_element("tag name", "body").text
        self.assertEqual(body.count("the run ended early, with"), 1, body)
        self.assertEqual(self.browser.find_element("id", "subtitle").text, "Incomplete")
        self.assert_drawn()
        self.assert_quiet()


class KeptResults(ReportTest):

    def test_a_result_without_histograms_shows_what_it_has(self):
        path = GOLDEN / "reel-v1.json"
        self.open(self.report(path))
        self.click_through()
        self.assert_drawn()
        self.open(self.report(path), PHONE)
        self.assert_fits()
        charts = {chart["title"]: chart for chart in self.script(CHARTS)}
        self.assertFalse([title for title in charts if "over time" in title])
        samples = json.loads(path.read_text())["measurements"][0]["samples"]
        for dataset in charts["Latency percentiles"]["datasets"]:
            latencies = [sample["latency"][dataset["label"]] for sample in samples]
            self.assertAlmostEqual(dataset["data"][-1]["y"] / max(one["max_us"] for one in latencies), 1, 3)
            median = statistics.median(one["p50_us"] for one in latencies)
            if len(dataset["data"]) > 1:
                self.assertAlmostEqual(dataset["data"][0]["y"] / median, 1, 3)
        self.assert_quiet()

    def test_rounds_before_the_steady_state_are_drawn_apart(self):
        self.filereel("run", "create-files", "--near", self.folder("near"), "--scale", "0.01", "--steady", "--runs",
                      "5", "--json", "r.json")
        result = self.result()
        one = result["measurements"][0]
        for i, sample in enumerate(one["samples"]):
            sample["run"] = 4 + i
        one["earlier_rounds"] = [900.5, 700.25, 500.125]
        (self.scratch / "r.json").write_text(json.dumps(result))
        self.open(self.report(self.scratch / "r.json"))
        self.assert_drawn()
        charts = self.script(CHARTS_OF_CHOICES, self.choice("Measurement"))[0]
        (chart,) = [each for each in charts if each["title"].startswith("Samples: ")]
        counted, earlier = chart["datasets"]
        self.assertEqual([point["x"] for point in counted["data"]], [4, 5, 6, 7, 8])
        self.assertEqual([point["y"] for point in earlier["data"]], [900.5, 700.25, 500.125])
        self.assertEqual(earlier["label"], "before the steady state")
        self.assert_quiet()

    def test_a_write_cache_is_a_table_and_a_chart_over_the_bytes_written(self):
        self.filereel("run", "create-files", "--near", self.folder("near"), "--scale", "0.01", "--runs", "1",
                      "--json", "r.json")
        result = self.result()
        result["plan"]["jobs"][0]["analysis"] = "write-cache"
        sample = result["measurements"][0]["samples"][0]
        sample["elapsed_s"] = sample["durable_s"] = 20
        fast, slow = 100_000_000, 20_000_000
        sample["bytes"] = 6 * fast + 34 * slow
        sample["rates"] = {"interval_s": 0.5, "intervals": 40, "bytes": packed([fast] * 6 + [slow] * 34)}
        (self.scratch / "r.json").write_text(json.dumps(result))
        self.filereel("report", "r.json", "--markdown", "r.md")
        text = (self.scratch / "r.md").read_text()
        self.assertIn("600 MB at 200 MB/s, then 40.0 MB/s.", text)
        self.open(self.report(self.scratch / "r.json"))
        self.assert_drawn()
        (chart,) = [one for one in self.script(CHARTS) if one["title"].startswith("Rate over bytes written")]
        measured, levels = (one["data"] for one in chart["datasets"])
        self.assertEqual([point["y"] for point in measured], [200] * 6 + [40] * 34)
        self.assertEqual(measured[0]["x"], fast / 2)
        self.assertEqual(measured[-1]["x"], 6 * fast + 33.5 * slow)
        self.assertEqual(levels, [{"x": 0, "y": 200}, {"x": 6 * fast, "y": 200}, {"x": 6 * fast, "y": 40},
                                  {"x": 6 * fast + 34 * slow, "y": 40}])
        page = self.script("return document.getElementById('main').textContent")
        rows = re.findall(r"^\| (size|rate from .*?) +\| +(.*?) +\| +(.*?) +\|$", text, re.MULTILINE)
        self.assertEqual(len(rows), 3, text)
        for row in rows:
            for cell in row:
                self.assertIn(cell, page)
        self.assert_quiet()

    def test_a_sweep_shows_its_matrix_as_curves(self):
        path = GOLDEN / "workload-v1.json"
        sweep = json.loads(path.read_text())["sweeps"][0]
        self.open(self.report(path))
        self.click_through()
        self.open(self.report(path))
        chart = next(one for one in self.script(CHARTS) if one["title"].startswith(sweep["workload"] + ":"))
        figure = next(code for name, code in FIGURES.items() if chart["title"].endswith(name))
        matrix = sweep[figure]
        lines = matrix if isinstance(matrix[0], list) else [matrix]
        self.assertEqual([one["data"] for one in chart["datasets"]], lines)
        self.assertEqual(chart["labels"], sweep["axes"][-1]["values"])
        self.assert_quiet()

    def check_strips(self, chart, clients):
        """Each strip has the bytes of its client's course, in the intervals of its own time."""
        cells = chart["datasets"][0]["cells"]
        self.assertEqual({cell["row"] for cell in cells}, set(range(len(clients["each"]))))
        for row, one in enumerate(clients["each"]):
            course = numbers(one["bytes_course"])
            mine = [cell for cell in cells if cell["row"] == row]
            self.assertEqual(sum(cell["amount"] for cell in mine), sum(course))
            for cell in mine:
                first = round((cell["from"] - one["start_s"]) / one["interval_s"])
                # Operations counted after the end of a client are in its last cell.
                end = None if cell is mine[-1] else round((cell["to"] - one["start_s"]) / one["interval_s"])
                self.assertEqual(cell["amount"], sum(course[first:end]))
                self.assertAlmostEqual(cell["perSecond"] * (cell["to"] - cell["from"]) / cell["amount"], 1)
            self.assertAlmostEqual(mine[-1]["to"], one["start_s"] + one["elapsed_s"], 2)

    def check_clients_table(self, sample):
        clients = sample["clients"]
        rates = [one["bytes"] / one["elapsed_s"] for one in clients["each"]]
        slow, fast = rates.index(min(rates)), rates.index(max(rates))
        expected = {
            "Until the last client ended": sample["bytes"] / sample["elapsed_s"],
            "Until the first client ended": clients["first_ended_bytes"] / clients["first_ended_s"],
            f"Slowest client: {slow} on {clients['each'][slow]['host']}": rates[slow],
            f"Fastest client: {fast} on {clients['each'][fast]['host']}": rates[fast],
            "Jain's fairness index": sum(rates) ** 2 / len(rates) / sum(rate ** 2 for rate in rates),
            "Start skew": clients["start_skew_us"], "Error of the clocks, at most": clients["clock_error_us"]}
        table = next(one for one in self.script(TABLES) if one["caption"].startswith("3 clients on 1 host"))
        self.assertEqual([row[0]["text"] for row in table["rows"]], list(expected))
        for (_, cell), value in zip(table["rows"], expected.values()):
            self.assertAlmostEqual(cell["value"] / value, 1)
        self.assertEqual([table["rows"][row][1]["text"] for row in (2, 3, 5)],
                         [f"{number(rates[slow] / 1e6)}\u202fMB/s", f"{number(rates[fast] / 1e6)}\u202fMB/s",
                          f"{number(clients['start_skew_us'])}\u202fµs"])

    def test_each_client_has_a_strip_over_time_and_all_have_a_table(self):
        path = GOLDEN / "clients-v6.json"
        (measured,) = json.loads(path.read_text())["measurements"]
        samples = {sample["run"]: sample for sample in measured["samples"]}
        self.open(self.report(path))
        choices = Select(self.choice("Clients of"))
        shown = set()
        for i, option in enumerate(choices.options):
            choices.select_by_index(i)
            run = int(option.text.split()[1])
            shown.add(run)
            (chart,) = [one for one in self.script(CHARTS) if one["title"].startswith("Clients over time")]
            self.assertEqual(chart["title"], f"Clients over time, repetition {run}")
            self.check_strips(chart, samples[run]["clients"])
            self.check_clients_table(samples[run])
            # The line at the end of the first client begins above the strips.
            line, beside = self.script("""
                const canvas = document.querySelector('.beside canvas');
                const {scales: {x}, chartArea: {top}} = Chart.getChart(canvas);
                const at = x.getPixelForValue(arguments[0]), brush = canvas.getContext('2d');
                return [at, at + 40].map((place) => brush.getImageData(place, top - 2, 1, 1).data[3]);""",
                samples[run]["clients"]["first_ended_s"])
            self.assertGreater(line, 0)
            self.assertEqual(beside, 0)
        self.assertEqual(shown, set(samples))
        canvas, tip = self.all(".beside canvas")[0], self.all(".beside .tip")[0]
        for key, rank in (("\ue014", 0), ("\ue015", 1), ("\ue015", 2), ("\ue013", 1)):  # right, down, down, up
            canvas.send_keys(key)
            self.assertRegex(tip.text, rf"(?s)MB/s\nclient {rank} on .*\n.* to .*s$")
        self.click_through()
        self.open(self.scratch / "page.html", PHONE)
        self.assert_drawn()
        self.assert_fits()
        self.assert_quiet()

    def test_of_many_clients_the_slowest_and_the_fastest_have_strips(self):
        result = json.loads((GOLDEN / "clients-v6.json").read_text())
        for sample in result["measurements"][0]["samples"]:
            each = sample["clients"]["each"]
            sample["clients"]["each"] = [{**each[i % 3], "host": f"node-{i:02}", "bytes": 1000000 + i}
                                         for i in range(90)]
        path = self.scratch / "many.json"
        path.write_text(json.dumps(result))
        self.open(self.report(path), PHONE)
        (chart,) = [one for one in self.script(CHARTS) if one["title"].startswith("Clients over time")]
        self.assertEqual(len({cell["row"] for cell in chart["datasets"][0]["cells"]}), 64)
        self.assertIn("The 32 slowest and the 32 fastest of 90 clients.", self.all(".beside figcaption")[0].text)
        self.assertIn("90 clients on 90 hosts", self.all(".beside caption")[0].text)
        self.assert_drawn()
        self.assert_fits()
        self.assert_quiet()

    def test_two_results_come_with_the_verdicts_of_compare(self):
        before = self.edited("before.json", label="before the update")
        slower = json.loads(before.read_text())
        for one in slower["measurements"]:
            for sample in one["samples"]:
                sample["durable_s"] *= 1.5
        after = self.edited("after.json", label="after", measurements=slower["measurements"])
        told = json.loads(self.filereel("compare", before, after, "--json", "-", status=None).out)
        self.open(self.report(before, after))
        self.click_through()
        table = next(one for one in self.script(TABLES) if "Time for the same work" in one["caption"])
        self.assertEqual([row[1]["text"][2:] for row in table["rows"]],
                         [one["verdict"] for one in told["measurements"]])
        self.assertEqual([float(f"{row[2]['value']:.6g}") for row in table["rows"]],
                         [one.get("ratio") for one in told["measurements"]])
        self.assert_quiet()

    def test_many_results_stand_side_by_side(self):
        files = [self.edited(f"{i}.json", label=f"drive {i}") for i in range(9)]
        self.open(self.report(*files), PHONE, "dark")
        self.assertEqual(self.script("return document.documentElement.dataset.theme"), "dark")
        self.click_through()
        charts = [one for one in self.script(CHARTS) if len(one["labels"] or []) == 9]
        self.assertTrue(charts)
        for chart in charts:  # on each of their file systems, so they are entries as a whole
            self.assertEqual(sorted(chart["labels"]), [f"drive {i}" for i in range(9)])
        self.assert_fits()
        self.assert_quiet()

    def several(self, label, factor, runs=3):
        """Results of one drive whose times are by a factor longer than those of the golden result."""
        paths = []
        for run in range(runs):
            result = json.loads((GOLDEN / "fc-test-v1.json").read_text())
            measured = [one for one in result["measurements"] if one["file_system"] == "ext4"]
            for volume in result["volumes"]:
                for drive in [volume["device"], *volume.get("drives", [])]:
                    drive["serial"] = label
            for one in measured:
                for sample in one["samples"]:
                    sample["elapsed_s"] *= factor
                    sample["durable_s"] *= factor
            paths.append(self.edited(f"{label}-{run}.json", label=label, measurements=measured,
                                     volumes=result["volumes"]))
        return paths

    def test_results_of_one_drive_are_one_column_and_the_best_comes_first(self):
        drives = {"Acme": 10, "Bolt": 1, "Cirrus": 100, "Delta": 1000}
        paths = [path for name, factor in drives.items() for path in self.several(name, factor, 8)]
        self.open(self.report(*paths))
        self.assertEqual(self.all("h1")[0].text, "4 drives compared")
        best_first = sorted(drives, key=drives.get)
        charts = [one for one in self.script(CHARTS) if one["title"].startswith("create: MB/s")]
        self.assertTrue(charts)
        for chart in charts:
            self.assertEqual(chart["labels"], best_first)
            values = chart["datasets"][0]["data"]
            for name, value in zip(best_first, values, strict=True):
                self.assertAlmostEqual(value * drives[name] / values[0], 1)
        table = next(one for one in self.script(TABLES) if one["caption"] == "Measurements by drive")
        self.assertEqual([row[0]["text"] for row in table["rows"]], list(drives))
        for column in range(1, len(table["heading"])):
            cells = {row[0]["text"]: row[column]["text"] for row in table["rows"]}
            self.assertEqual([name for name, text in cells.items() if text.endswith("▲")], ["Bolt"])
        samples = next(one for one in self.all("summary") if one.text.startswith("All "))
        count = sum(len(one["samples"]) for path in paths
                    for one in json.loads(path.read_text())["measurements"])
        self.assertEqual(samples.text, f"All {count} samples")

        # The index: all rates are in proportion, so it is.
        self.open(self.report(*paths, "--reference", "Acme"))
        self.script("document.querySelectorAll('figure details').forEach("
                    "(one) => { one.open = true; one.fillNow(); })")
        (index,) = [one for one in self.script(TABLES) if one["caption"].startswith("all, ")]
        self.assertEqual([row[0]["text"] for row in index["rows"]], best_first)
        for row in index["rows"]:
            self.assertAlmostEqual(row[-1]["value"], 100 * drives["Acme"] / drives[row[0]["text"]], 6)

        # A press on a heading sorts, one on a drive hides it.
        self.click(self.all(".sticky thead button")[1])
        table = next(one for one in self.script(TABLES) if one["caption"] == "Measurements by drive")
        self.assertEqual([row[0]["text"] for row in table["rows"]], best_first)
        self.click(next(one for one in self.all(".toggle") if one.text == "Bolt"))
        charts = [one for one in self.script(CHARTS) if one["title"].startswith("create: MB/s")]
        for chart in charts:
            self.assertNotIn("Bolt", [*chart["labels"], *(one["label"] for one in chart["datasets"])])
        self.assert_quiet()

    def test_each_phase_stands_in_the_overview_by_the_rate_that_describes_it(self):
        (self.scratch / "mixed.yaml").write_text(
            "files:\n"
            "  - {name: new, count: 40, size: 4 KiB, exist: false}\n"
            "  - {name: film, count: 1, size: 4 MiB}\n"
            "phases:\n"
            "  - {name: create, files: new, do: [create]}\n"
            "  - {name: accesses, files: film, access: {size: 4 KiB, random: 100 %}, "
            "stop: {operations: 100}}\n"
            "  - {name: play, files: film, do: [read]}\n")
        for label in ("one", "two"):
            self.filereel("run", "mixed.yaml", "--near", self.folder(label), "--runs", "1", "--label",
                          label, "--json", f"{label}.json")
        self.open(self.report("--base", "one.json", "--new", "two.json"))
        table = next(one for one in self.script(TABLES) if one["caption"].startswith("Measurements by"))
        self.assertEqual(table["heading"][1:],
                         ["create, files/s", "accesses, operations/s", "play, MB/s"])
        for row in table["rows"]:
            self.assertTrue(all(cell["value"] for cell in row[1:]), row)
        self.assertEqual([one["title"].removeprefix("mixed.yaml: ") for one in self.script(CHARTS)
                          if one["title"].startswith("mixed.yaml: ")],
                         ["Files/s (writes until durable)", "Operations/s until calls return",
                          "MB/s (writes until durable)"])
        self.assert_drawn()
        self.assert_quiet()

    def test_groups_of_the_command_line_are_columns(self):
        acme, bolt = self.several("Acme", 1, 2), self.several("Bolt", 2, 1)
        page = self.report("--base", acme[0], "--base", bolt[0], "--new", acme[1])
        self.open(page)
        self.assertEqual(self.all("h1")[0].text, "2 results compared")
        self.assertTrue([one for one in self.script(TABLES) if "Time for the same work" in one["caption"]])
        self.assert_quiet()

    def test_the_heading_says_what_is_compared(self):
        def near(firmware="1.0", **changes):
            changes["firmware"] = firmware
            volumes = json.loads((GOLDEN / "fc-test-v1.json").read_text())["volumes"]
            for volume in volumes:
                if volume["role"] == "near":
                    volume |= changes
                    volume["device"] |= changes
            return {"volumes": volumes}

        host = json.loads((GOLDEN / "fc-test-v1.json").read_text())["host"]
        for one, many, changes in (
                ("drive", "drives", near(serial="another")), ("result", "results", near()),
                ("set of mount options", "sets of mount options", near(mount_options="rw,noatime")),
                ("firmware version", "firmware versions", near(firmware="9.9")),
                ("kernel", "kernels", near() | {"host": host | {"kernel": "9.9"}})):
            with self.subTest(many):
                files = [self.edited("a.json", label="a", **near()),
                         self.edited("b.json", label="b", **changes)]
                self.open(self.report(*files))
                self.assertEqual(self.all("h1")[0].text, f"2 {many} compared on 2 file systems")
                self.assertIn(f"Measurements by {one}",
                              [table["caption"] for table in self.script(TABLES)])

    def test_cut_labels_differ_and_values_stand_behind_whiskers(self):
        names = [f"{start} of a drive with a name that is far too long for a label {end}"
                 for start in ("Front", "Rear") for end in ("one", "two")]
        names += [f"The same start and the same end around {word} in the middle of a long label"
                  for word in ("this", "that")]
        page = self.report(*[path for name in names for path in self.several(name, 1, 5)])
        for width in (DESK, PHONE):
            self.open(page, width)
            for labels in self.script(LABELS):
                self.assertEqual(len(labels), len(names))
                self.assertEqual(len(set(labels)), len(names), labels)
                self.assertLess(max(map(len, labels)), 45)
            wrong, checked = self.script(BEHIND)
            self.assertEqual(wrong, [])
            self.assertGreater(checked, len(names))
        self.assert_quiet()

    def test_a_warning_names_all_results_that_have_it(self):
        warning = {"code": "c", "text": "the same for both", "next_step": "look"}
        self.open(self.report(*[self.edited(f"{i}.json", label=f"drive {i}", warnings=[warning])
                                for i in range(2)]))
        self.assertEqual([one.text for one in self.all(".warnings strong")],
                         ["the same for both (drive 0, drive 1)"])

    def test_twenty_four_drives_fit_a_phone_and_paper(self):
        paths = [path for i in range(24) for path in self.several(f"Drive {i:02}", 1 + i / 10, 1)]
        self.open(self.report(*paths), PHONE)
        self.assert_drawn()
        self.assert_fits()
        charts = [one for one in self.script(CHARTS) if one["title"].startswith("create: MB/s")]
        self.assertEqual({len(one["labels"]) for one in charts}, {24})
        page = self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
        self.assertGreater(len(page), 50_000)
        wide = self.script("""document.querySelector('.on-paper').style.display = 'block';
            const tables = [...document.querySelectorAll('.on-paper table')];
            return tables.filter((one) => one.tHead.rows[0].cells.length > 6).length""")
        self.assertEqual(wide, 0)
        self.assert_quiet()

    def test_a_hostile_result_is_text_and_nothing_else(self):
        attack = "</script><script>window.owned=1</script><img src=http://x.invalid/ onerror=owned=2>" \
                 "<!--\u2028\u202e\x7f\x1b]0;&quot;"

        def poison(value, key=""):
            if isinstance(value, dict):
                return {name: poison(one, name) for name, one in value.items()}
            if isinstance(value, list):
                return [poison(one, key) for one in value]
            fixed = {"role", "kind", "file_systems", "operations", "copy_method", "workload", "started"}
            return value + attack if isinstance(value, str) and key not in fixed else value

        for name in ("fc-test-v1.json", "reel-v1.json", "workload-v1.json"):
            path = self.scratch / name
            path.write_text(json.dumps(poison(json.loads((GOLDEN / name).read_text())
                                              | {"label": attack, "note": attack})))
            self.open(self.report(path))
            self.click_through()
            self.assertIsNone(self.script("return window.owned"))
            self.assertEqual(len(self.all("script")), 3)
            self.assertEqual(self.all("img, iframe, object, embed, form"), [])
            self.assertIn("<script>window.owned=1</script>", self.all("h1")[0].text)
            self.assert_quiet()

    def test_times_of_all_magnitudes_are_drawn(self):
        extremes = [1e-30, 1e-12, 1e-9, 1, 1e9, 1e12, 1e30]
        paths = []
        for name in ("reel-v1.json", "workload-v1.json", "fc-test-v1.json"):
            result = json.loads((GOLDEN / name).read_text())
            for one in result["measurements"]:
                for i, sample in enumerate(one["samples"]):
                    sample["elapsed_s"] = sample["durable_s"] = extremes[1 + i % 5]
                    for latency in sample["latency"].values():
                        for member in (member for member in latency if member.endswith("_us")):
                            latency[member] = extremes[i % len(extremes)]
                    if sample.get("reel"):
                        sample["reel"]["series"] = [
                            {"t_s": time, "operations": 2 ** 63, "bytes": 2 ** 63,
                             "mean_us": figure, "max_us": figure}
                            for time, figure in zip(extremes, reversed(extremes))]
            paths.append(self.scratch / name)
            paths[-1].write_text(json.dumps(result))
        self.browser.set_page_load_timeout(30)
        self.browser.set_script_timeout(30)
        for results in (paths[:1], paths):
            with self.subTest([path.name for path in results]):
                self.open(self.report(*results))
                self.assert_drawn()

    def test_the_policy_stops_foreign_scripts_and_requests(self):
        self.open(self.report(GOLDEN / "fc-test-v1.json"))
        self.script("const script = document.createElement('script');"
                    "script.textContent = 'window.owned = 1'; document.body.append(script)")
        self.assertIsNone(self.script("return window.owned"))
        answer = self.browser.execute_async_script(
            "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('sent'), "
            "(error) => done(String(error)))")
        self.assertIn("TypeError", answer)
        refused = " ".join(entry["message"] for entry in self.browser.get_log("browser"))
        self.assertIn("script-src", refused)
        self.assertIn("Content Security Policy", refused)

    def test_it_prints_light_and_complete(self):
        self.open(self.report(GOLDEN / "fc-test-v1.json"), scheme="dark")
        self.script("window.addEventListener('beforeprint', () => {"
                    "  window.printed = document.documentElement.dataset.theme; })")
        page = self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
        self.assertGreater(len(page), 20_000)
        self.assertEqual(self.script("return window.printed"), "light")
        self.assertEqual(self.script("return document.documentElement.dataset.theme"), "dark")
        self.assert_drawn()

    def test_headings_go_down_step_by_step(self):
        self.open(self.report(GOLDEN / "fc-test-v1.json"))
        levels = self.script("return [...document.querySelectorAll('h1, h2, h3, h4')]"
                             ".map((one) => Number(one.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)


class History(ReportTest):

    def test_the_page_of_a_history_has_trends_and_the_comparisons_of_each_firmware(self):
        steps = {"create": 2.0, "read": 1.5}
        paths = []
        for number, firmware in enumerate(("1.07", "1.07", "1.07", "1.08", "1.08", "1.08")):
            factor = {"create": 3 if firmware == "1.08" else 1, "read": 1}
            result = made_result.result(
                {step: [seconds * factor[step] * (1 + run / 100) for run in range(6)]
                 for step, seconds in steps.items()},
                firmware, started=f"2024-03-0{1 + number}T12:00:00Z", session=str(number))
            paths.append(self.scratch / f"{number}.json")
            paths[-1].write_text(json.dumps(result))
        self.filereel("history", "drives", "add", *paths)
        self.filereel("history", "drives", "report", "-o", "drives.html")
        told = json.loads(self.filereel(
            "history", "drives", "compare", "Fast-Disk-3-S123/1.07", "Fast-Disk-3-S123/1.08",
            "--json", "-", status=4).out)
        self.open(self.scratch / "drives.html")
        self.assert_drawn()
        overview = self.script(TABLES)[0]
        self.assertEqual([[cell["text"] for cell in row[:4]] for row in overview["rows"]],
                         [["Fast Disk 3 S123", "1.07", "–", "3"],
                          ["Fast Disk 3 S123", "1.08", "1 slower, 1 same", "3"]])
        self.assertEqual([one["verdict"] for one in told["measurements"]], ["slower", "same"])
        (chart,) = self.script(CHARTS)
        self.assertEqual([one["label"] for one in chart["datasets"]], ["1.07", "1.08"])
        self.assertEqual([[value is not None for value in one["data"]] for one in chart["datasets"]],
                         [[True] * 3 + [False] * 3, [False] * 3 + [True] * 3])
        self.assertEqual([one is not None for one in chart["datasets"][0]["ranges"]],
                         [True] * 3 + [False] * 3)
        # The link opens the comparison.
        self.assertEqual(len([one for one in self.script(TABLES) if "same work" in one["caption"]]), 0)
        self.click(self.all("td a")[0])
        (table,) = [one for one in self.script(TABLES) if "same work" in one["caption"]]
        self.assertEqual([float(f"{row[2]['value']:.6g}") for row in table["rows"]],
                         [one["ratio"] for one in told["measurements"]])
        self.click_through()
        self.open(self.scratch / "drives.html", PHONE)
        self.assert_drawn()
        self.assert_fits()
        self.assert_quiet()

    def test_what_else_changed_with_a_firmware_is_at_its_verdict_and_points_are_told_apart(self):
        paths = []
        for number, firmware in enumerate(("1.07", "1.07", "1.08")):
            result = made_result.result(
                {"create": [(8 if firmware == "1.08" else 2) * (1 + run / 100) for run in range(6)]},
                firmware, started=f"2024-03-01T10:00:{10 + number}Z", session=str(number))
            if firmware == "1.08":
                result["volumes"][0]["mount_options"] = "rw,data=journal"
            if number == 1:
                result["plan"]["parameters"]["scale"] = 0.5
            paths.append(self.scratch / f"{number}.json")
            paths[-1].write_text(json.dumps(result))
        self.filereel("history", "drives", "add", *paths)
        self.filereel("history", "drives", "report", "-o", "drives.html")
        self.open(self.scratch / "drives.html")
        cell = self.script(TABLES)[0]["rows"][1][2]["text"]
        self.assertIn("1 slower", cell)
        self.assertIn("also changed: mount options of ext4 (near)", cell)
        body = self.browser.find_element("tag name", "body").text
        self.assertIn("mount options of ext4 (near): rw, relatime → rw, data=journal", body)
        self.assertIn("also changed: the firmware may not be the cause", body)
        self.assertIn("1 of 2 results of the base is left out: scale 0.5 instead of 1", body)
        labels = self.script("return [...document.querySelectorAll('.plot canvas')].flatMap("
                             "(one) => Chart.getChart(one).scales.x.ticks.map(({label}) => label))")
        self.assertEqual(labels, ["10:00:10", "10:00:12"])
        self.assert_quiet()

    def test_a_device_whose_work_was_never_done_is_left_out(self):
        result = made_result.result({"create": [2.0, 2.1]}, "1.07")
        for sample in result["measurements"][0]["samples"]:
            sample["failed_calls"] = [{"volume": "near", "operation": "write", "error": "ENOSPC", "count": 3}]
        (self.scratch / "failed.json").write_text(json.dumps(result))
        self.filereel("history", "drives", "add", "failed.json")
        self.filereel("history", "drives", "report", "-o", "drives.html")
        self.open(self.scratch / "drives.html")
        self.assertIn("failed with ENOSPC: 3 times", self.browser.find_element("tag name", "body").text)
        self.assertEqual(len(self.script(TABLES)[0]["rows"]), 1)
        self.assert_quiet()


class OtherPrograms(IntegrationTest):

    def test_spreadsheets_get_every_sample(self):
        path = GOLDEN / "fc-test-v1.json"
        rows = list(csv.DictReader(io.StringIO(self.filereel("report", path, "--csv", "-").out)))
        samples = [(one, sample) for one in json.loads(path.read_text())["measurements"]
                   for sample in one["samples"]]
        self.assertEqual(len(rows), len(samples))
        for row, (one, sample) in zip(rows, samples):
            self.assertEqual(row["set"], one["set"])
            for key in ("elapsed_s", "durable_s", "bytes", "files", "operations", "cpu_user_s"):
                self.assertEqual(float(row[key]), sample[key])


if __name__ == "__main__":
    main()
