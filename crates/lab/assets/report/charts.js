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

  // Looks of the lines: colours are counted apart for the paper's and ours.
  function looks(chart) {
    const shade = dark.matches && !printing() ? "dark" : "light";
    const counts = { paper: 0, ours: 0 };
    return chart.lines.map((line) => {
      const at = line.ours ? counts.ours++ : counts.paper++;
      const colours = (line.ours ? ours : paper)[shade];
      return { colour: colours[at % colours.length], symbol: symbols[(line.ours ? 3 : at) % symbols.length],
               type: line.level ? "dashed" : at >= colours.length ? "dotted" : "solid", width: line.ours ? 3 : 1.8 };
    });
  }

  const place = (side, value) => (side.words.length ? side.words[value] : tick(value));

  // For names upwards, in pixels: the same whatever chart, and no more than half of a phone.
  const room = () => Math.min(260, Math.round(document.documentElement.clientWidth * 0.42));

  function axis(side, name, close) {
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
    return { type: side.logarithmic ? "log" : "value", scale: name || close, ...common, ...label };
  }

  // Whether all is so far from zero, and so close together, that zero has no place in the picture.
  function close(chart) {
    const [low, high] = chart.lines.flatMap((line) => line.points).reduce(
      ([low, high], [, y, , half]) => [Math.min(low, y - half), Math.max(high, y + half)], [Infinity, -Infinity]);
    return low > high / 2;
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
        showSymbol: !line.level, symbol: look.symbol, symbolSize: line.points.length > CROWDED ? 4 : 7,
        // Nothing lies between things that have names.
        lineStyle: { color: look.colour, width: chart.y.words.length ? 0 : look.width, type: look.type }, itemStyle: { color: look.colour },
        emphasis: { focus: "series" }, z: line.ours ? 4 : 3, animation: false }];
      if (line.points.some((point) => point[3] > 0)) all.push(intervals(line, look, false, chart.y, at, turns, floor(chart, false)));
      if (line.points.some((point) => point[2] > 0)) all.push(intervals(line, look, true, chart.x, at, turns, floor(chart, true)));
      return all;
    });
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
    const range = (mean, half) => (half > 0 ? `${number(mean)} ± ${number(half)}` : number(mean));
    if (chart.x.swept) row(`${chart.x.label}: ${place(chart.x, list[0].value[0])}`, null, true);
    for (const one of list) {
      const [x, y, halfX, halfY, count] = one.value;
      const at = chart.x.swept ? range(y, halfY) : `${range(x, halfX)}; ${chart.y.label}: ${place(chart.y, y)}`;
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
      xAxis: axis(chart.x, true), yAxis: axis(chart.y, false, close(chart)), series: series(chart),
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
      mark.style.borderTop = `${line.ours ? 4 : 3}px ${styles[at].type} ${styles[at].colour}`;
      button.append(line.label);
      button.addEventListener("click", () => {
        if (!state.hidden.delete(line.label)) state.hidden.add(line.label);
        button.setAttribute("aria-pressed", String(!state.hidden.has(line.label)));
        state.drawn?.setOption({ legend: option(chart, state.hidden).legend });
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
