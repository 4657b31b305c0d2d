"use strict";
// Draws every chart of the page from the data in #charts. Words reach the page as text alone, never as markup.
(() => {
  document.documentElement.classList.add("drawn");
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // The paper's lines (after Okabe and Ito, readable without red and green), and ours.
  const paper = { light: ["#0072b2", "#d55e00", "#009e73", "#8f6bb3", "#a67c00", "#56a0d3", "#b0386b", "#5f6b73"],
                  dark: ["#5db3ea", "#f08a4b", "#3fc79a", "#c3a6e0", "#dcb64a", "#9ad0f5", "#ee86b0", "#a9b4bb"] };
  const ours = { light: ["#111111", "#c4007a", "#6a3d00"], dark: ["#ffffff", "#ff6ec7", "#ffd08a"] };
  const symbols = ["circle", "rect", "triangle", "diamond"];
  // Points on one line beyond which intervals and marks are drawn for some of them only.
  const CROWDED = 30;
  // Lines in one chart beyond which they take turns: their intervals would lie on each other.
  const MANY = 8, TURNS = 3;

  const printing = () => document.documentElement.classList.contains("printing");
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const number = (value) => {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    return size >= 1e7 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  };

  // A number on an axis: all digits that it has, so that neighbours never look alike, and none that come of computing in binary.
  const tick = (value) => {
    const exact = Number(value.toPrecision(12)), size = Math.abs(exact);
    return exact !== 0 && (size >= 1e9 || size < 1e-4) ? exact.toExponential().replace("e+", "e") : String(exact);
  };

  // Looks of the lines: colours are counted apart for the paper's and ours. What another simulator has measured has the colour of the line that
  // it stands beside.
  function looks(chart) {
    const shade = dark.matches && !printing() ? "dark" : "light";
    const counts = { paper: 0, ours: 0 }, known = {};
    return chart.lines.map((line) => {
      if (line.beside) return { ...known[line.beside], symbol: "emptyCircle", type: "solid", width: 0 };
      const at = line.ours ? counts.ours++ : counts.paper++;
      const colours = (line.ours ? ours : paper)[shade];
      known[line.label] = { colour: colours[at % colours.length], symbol: symbols[(line.ours ? 3 : at) % symbols.length],
        type: line.level ? "dashed" : at >= colours.length ? "dotted" : "solid", width: line.ours ? 3 : 1.8 };
      return known[line.label];
    });
  }

  const place = (side, value) => (side.words.length ? side.words[value] : tick(value));

  // For names upwards, in pixels: the same whatever chart, and no more than half of a phone.
  const room = () => Math.min(260, Math.round(document.documentElement.clientWidth * 0.42));

  // How much of the range of the means their intervals may add on either side; what is wider is cut.
  const REACH = 0.25;

  // From where to where a side goes: as the data say, or to where the means are that can be seen, and the numbers that are stated. Powers of ten
  // on a logarithmic axis.
  function extent(chart, along, hidden) {
    const side = chart[along], other = chart[along === "x" ? "y" : "x"].shown, [at, across] = along === "x" ? [0, 1] : [1, 0];
    const seen = (point) => !other || (point[across] >= other[0] && point[across] <= other[1]);
    const points = chart.lines.filter((line) => !hidden.has(line.label)).flatMap((line) => line.points.filter(seen));
    if (side.shown || !points.length) return side.shown;
    const scaled = (value) => (side.logarithmic ? Math.log10(Math.max(value, 1e-300)) : value);
    const all = [...points.map((point) => point[at]), ...chart.marks.filter((mark) => mark.along === along).map((mark) => mark.value)];
    const values = all.filter((value) => !side.logarithmic || value > 0).map(scaled);
    const [low, high] = [Math.min(...values), Math.max(...values)], reach = (high - low) * REACH || Infinity;
    const least = low >= 0 && !side.logarithmic ? 0 : -Infinity;
    const ends = [Math.min(low, ...points.map((point) => Math.max(scaled(point[at] - point[at + 2]), low - reach, least))),
      Math.max(high, ...points.map((point) => Math.min(scaled(point[at] + point[at + 2]), high + reach)))];
    if (side.logarithmic) return ends;
    // Zero has a place in the picture unless all is far from it and close together.
    return along === "y" && ends[0] > 0 && ends[0] <= ends[1] / 2 ? [0, ends[1]] : ends;
  }

  // Ends and steps that people can read.
  function rounded([low, high], given) {
    const spread = high - low || Math.abs(low) * 0.2 || 2, rough = spread / 5, size = 10 ** Math.floor(Math.log10(rough));
    const interval = [1, 2, 5, 10].find((step) => step * size >= rough * 0.999) * size;
    if (given) return { min: low, max: high, interval };
    const [least, most] = high > low ? [low, high] : [low - spread / 2, high + spread / 2];
    return { min: Math.floor(least / interval + 1e-9) * interval, max: Math.ceil(most / interval - 1e-9) * interval, interval };
  }

  function axis(chart, along, hidden) {
    const side = chart[along], name = along === "x";
    const ink = style("--ink-soft"), rule = style("--rule");
    const common = { axisLine: { show: true, lineStyle: { color: ink } }, axisTick: { show: true, lineStyle: { color: ink } },
      axisLabel: { color: ink, hideOverlap: true }, splitLine: { show: true, lineStyle: { color: rule } } };
    // The label of the y axis is text above the chart: turned letters are hard to read on a phone.
    const label = name ? { name: side.label, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: ink } } : {};
    if (side.words.length) {
      // Names upwards are broken into lines: they may be longer than there is room for, and than the library thinks.
      if (!name) Object.assign(common.axisLabel, { width: Math.round(room() * 0.78), overflow: "break", lineHeight: 14, fontSize: 11, interval: 0, hideOverlap: false });
      return { type: "category", data: side.words, boundaryGap: true, ...common, ...label };
    }
    common.axisLabel.formatter = tick;
    const ends = extent(chart, along, hidden);
    if (side.logarithmic) {
      const powers = ends ? { min: 10 ** Math.floor(ends[0]), max: 10 ** Math.ceil(ends[1]) } : {};
      return { type: "log", ...common, ...label, ...powers };
    }
    return { type: "value", ...common, ...label, ...(ends ? rounded(ends, side.shown) : {}) };
  }

  // A number that somebody states: a line across the picture, with words at its end.
  function stated(mark) {
    const ink = style("--ink-soft"), across = mark.along === "y";
    const draw = (params, api) => {
      const { x, y, width, height } = params.coordSys, at = api.coord([mark.value, mark.value])[across ? 1 : 0];
      const outside = across ? at < y - 1 || at > y + height + 1 : at < x - 1 || at > x + width + 1;
      if (outside || !Number.isFinite(at)) return null;
      const shape = across ? { x1: x, x2: x + width, y1: at, y2: at } : { x1: at, x2: at, y1: y, y2: y + height };
      const beyond = across ? at - y < 18 : at > x + width * 0.6;
      const text = across ? { x: x + width - 4, y: beyond ? at + 3 : at - 3, align: "right", verticalAlign: beyond ? "top" : "bottom" }
        : { x: beyond ? at - 4 : at + 4, y: y + 3, align: beyond ? "right" : "left", verticalAlign: "top" };
      return { type: "group", silent: true, children: [
        { type: "line", shape, style: { stroke: ink, lineWidth: 1.4, lineDash: [2, 3] } },
        { type: "text", style: { ...text, text: mark.words, fill: ink, font: "600 11px sans-serif", stroke: style("--card"), lineWidth: 4 } }] };
    };
    return { type: "custom", name: mark.words, renderItem: draw, data: [[mark.value, mark.value]], encode: across ? { y: 1 } : { x: 0 },
      tooltip: { show: false }, clip: true, z: 5, silent: true, animation: false };
  }

  // A line per confidence interval, with caps.
  function whisker(look, across) {
    return (params, api) => {
      const [x, y, low, high] = [0, 1, 2, 3].map((at) => api.value(at));
      const ends = across ? [api.coord([low, y]), api.coord([high, y])] : [api.coord([x, low]), api.coord([x, high])];
      const [[x1, y1], [x2, y2]] = ends;
      const cap = (cx, cy) => ({ type: "line", shape: across ? { x1: cx, x2: cx, y1: cy - 4, y2: cy + 4 }
        : { x1: cx - 4, x2: cx + 4, y1: cy, y2: cy }, style: { stroke: look.colour, lineWidth: 1.2 } });
      return { type: "group", silent: true, children: [
        { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: look.colour, lineWidth: 1.2 } }, cap(x1, y1), cap(x2, y2)] };
    };
  }

  // Where no mean is below zero nothing can be: an interval is drawn no further than that.
  const floor = (chart, across) =>
    (chart.lines.every((line) => line.points.every((point) => point[across ? 0 : 1] >= 0)) ? 0 : -Infinity);

  function intervals(line, look, across, side, turn, turns, least) {
    const every = Math.max(Math.ceil(line.points.length / CROWDED), turns);
    const data = [];
    line.points.forEach(([x, y, halfX, halfY], index) => {
      const half = across ? halfX : halfY, mean = across ? x : y;
      // A level line has one interval, at its end.
      const shown = line.level ? index === line.points.length - 1 : index % every === turn % every;
      if (half <= 0 || !shown) return;
      // Nothing below zero has a place on a logarithmic axis.
      const low = side.logarithmic ? Math.max(mean - half, mean / 100) : Math.max(mean - half, least);
      data.push([x, y, low, mean + half]);
    });
    const encode = across ? { x: [2, 3], y: 1 } : { x: 0, y: [2, 3] };
    return { type: "custom", name: line.label, renderItem: whisker(look, across), data, encode, tooltip: { show: false },
      itemStyle: { color: look.colour }, clip: true, z: 1, silent: true, animation: false };
  }

  function series(chart) {
    const styles = looks(chart);
    const turns = chart.lines.length > MANY ? TURNS : 1;
    return chart.lines.flatMap((line, at) => {
      const look = styles[at];
      const drawable = ([x, y]) => !(chart.x.logarithmic && x <= 0) && !(chart.y.logarithmic && y <= 0);
      const all = [{ type: "line", name: line.label, data: line.points.filter(drawable), encode: { x: 0, y: 1 },
        showSymbol: !line.level && !line.stepped, symbol: look.symbol, symbolSize: line.points.length > CROWDED ? 4 : 7,
        step: line.stepped ? "end" : false,
        // Nothing lies between things that have names.
        lineStyle: { color: look.colour, width: chart.y.words.length ? 0 : look.width, type: look.type }, itemStyle: { color: look.colour },
        emphasis: { focus: "series" }, z: line.ours ? 4 : 3, animation: false }];
      if (line.points.some((point) => point[3] > 0)) all.push(intervals(line, look, false, chart.y, at, turns, floor(chart, false)));
      if (line.points.some((point) => point[2] > 0)) all.push(intervals(line, look, true, chart.x, at, turns, floor(chart, true)));
      return all;
    }).concat(chart.marks.map(stated));
  }

  function tip(chart, params) {
    const list = (Array.isArray(params) ? params : [params]).filter((one) => one.seriesType === "line");
    const box = document.createElement("div");
    box.className = "tip";
    const row = (text, colour, strong) => {
      const element = box.appendChild(document.createElement("div"));
      if (colour) {
        const mark = element.appendChild(document.createElement("i"));
        mark.style.background = colour;
      }
      element.append(text);
      if (strong) element.className = "head";
    };
    if (!list.length) return "";
    const range = (mean, half, median) =>
      `${number(mean)}${half > 0 ? ` ± ${number(half)}` : ""}${median === undefined ? "" : `, median ${number(median)}`}`;
    if (chart.x.swept) row(`${chart.x.label}: ${place(chart.x, list[0].value[0])}`, null, true);
    for (const one of list) {
      const [x, y, halfX, halfY, count, median] = one.value;
      const at = chart.x.swept ? range(y, halfY, median) : `${range(x, halfX, median)}; ${chart.y.label}: ${place(chart.y, y)}`;
      row(`${one.seriesName}: ${at}${count > 1 ? ` (n = ${count})` : ""}`, one.color);
    }
    return box;
  }

  // What the library measures of names upwards cuts them at the front; their room is known without measuring.
  function grid(chart) {
    const edges = { left: 8, right: 16, top: 12, bottom: 34 };
    if (chart.y.words.length) return { ...edges, left: room() + 16, bottom: 52, outerBoundsMode: "none" };
    return { ...edges, outerBoundsMode: "same", outerBoundsContain: "axisLabel" };
  }

  function option(chart, hidden) {
    const selected = Object.fromEntries(chart.lines.map((line) => [line.label, !hidden.has(line.label)]));
    return {
      animation: false, textStyle: { fontFamily: "inherit", color: style("--ink") },
      grid: grid(chart),
      legend: { show: false, selected },
      tooltip: { trigger: chart.x.swept ? "axis" : "item", confine: true, formatter: (params) => tip(chart, params),
        backgroundColor: style("--card"), borderColor: style("--rule"), textStyle: { color: style("--ink"), fontSize: 12 } },
      xAxis: axis(chart, "x", hidden), yAxis: axis(chart, "y", hidden), series: series(chart),
    };
  }

  // Buttons below the chart: they break into lines on a phone and are read aloud, which a drawn legend is not.
  function legend(chart, state) {
    const box = document.querySelector(`[data-legend="${CSS.escape(chart.id)}"]`);
    if (!box) return;
    const styles = looks(chart);
    box.replaceChildren(...chart.lines.map((line, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = line.ours ? "ours" : "";
      button.setAttribute("aria-pressed", String(!state.hidden.has(line.label)));
      const mark = button.appendChild(document.createElement("i"));
      if (line.beside) {
        mark.className = "points";
        mark.style.borderColor = styles[at].colour;
      } else mark.style.borderTop = `${line.ours ? 4 : 3}px ${styles[at].type} ${styles[at].colour}`;
      button.append(line.label);
      button.addEventListener("click", () => {
        if (!state.hidden.delete(line.label)) state.hidden.add(line.label);
        button.setAttribute("aria-pressed", String(!state.hidden.has(line.label)));
        // What is left is shown as large as it can be.
        const { legend, xAxis, yAxis } = option(chart, state.hidden);
        state.drawn?.setOption({ legend, xAxis, yAxis });
      });
      return button;
    }));
  }

  const states = charts.map((chart) => {
    const element = document.querySelector(`[data-chart="${CSS.escape(chart.id)}"]`);
    const state = { chart, element, hidden: new Set(), drawn: null };
    state.draw = () => {
      if (!state.element) return;
      if (!state.drawn) {
        const caption = document.createElement("p");
        caption.className = "y-label";
        caption.textContent = `${chart.y.label}${chart.y.logarithmic ? ", logarithmic" : ""}`;
        state.element.before(caption);
        // Room for two or three lines of every name.
        const names = chart.y.words.length;
        if (names > 0) state.element.style.height = `${Math.max(320, names * (room() < 200 ? 60 : 34) + 60)}px`;
        state.element.replaceChildren();
        state.drawn = echarts.init(state.element, null, { renderer: "svg" });
        new ResizeObserver(() => printing() || state.drawn.resize()).observe(state.element);
      }
      state.drawn.setOption(option(chart, state.hidden), true);
      legend(chart, state);
    };
    return state;
  });

  // A page of sixty charts opens at once when each is drawn as it comes near.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      near.unobserve(entry.target);
      states.find((state) => state.element === entry.target)?.draw();
    }
  }, { rootMargin: "800px" });
  for (const state of states) if (state.element) near.observe(state.element);
  dark.addEventListener("change", () => states.filter((state) => state.drawn).forEach((state) => state.draw()));

  // Paper has another width, which no script is told: every chart is drawn for half of an A4 page (all of it where it is alone), and
  // the style sheet stretches the picture to the room there is.
  const HALF = 340, WHOLE = 700;
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    for (const state of states.filter((one) => one.element)) {
      state.draw();
      const alone = state.element.closest(".charts").childElementCount === 1;
      const width = alone ? WHOLE : HALF, height = Math.max(state.element.clientHeight, 240);
      state.drawn.resize({ width, height });
      // Nobody waits for the next frame before the page is printed.
      state.drawn.getZr().flush();
      state.element.querySelector("svg").setAttribute("viewBox", `0 0 ${width} ${height}`);
    }
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    for (const state of states.filter((one) => one.drawn)) {
      state.element.querySelector("svg").removeAttribute("viewBox");
      state.drawn.resize({ width: "auto", height: "auto" });
      state.draw();
    }
  });

  // A link to something folded away unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let box = target && target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();
})();
