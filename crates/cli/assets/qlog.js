"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const HEIGHT = 260;
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  let charts = [];

  // Lines where something happened, with a word as long as there is room for it.
  const marks = list => ({ hooks: { draw: [u => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    let free = -Infinity;
    for (const [at, kind, text] of list) {
      if (at < u.scales.x.min || at > u.scales.x.max) continue;
      const x = Math.round(u.valToPos(at, "x", true));
      ctx.strokeStyle = ctx.fillStyle = colour(kind);
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const word = text.length > 28 ? text.slice(0, 27) + "…" : text;
      const width = ctx.measureText(word).width, pad = 3 * devicePixelRatio;
      if (x > free && x + width + pad < bbox.left + bbox.width) {
        ctx.fillText(word, x + pad, bbox.top + pad);
        free = x + width + 3 * pad;
      }
    }
    ctx.restore();
  }] } });

  const axis = label => ({
    label, stroke: colour("faint"), ...(label === "seconds" ? {} : { size: 64, values: (u, values) => values.map(compact.format) }),
    grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
  });

  // Each series has times of its own: they are joined to one axis. A hidden one is shown by a click on its name.
  function chart(id, unit, lines, list) {
    const host = document.getElementById(id);
    const drawn = lines.filter(line => line.points && line.points[0].length > 0);
    if (!host || drawn.length === 0) {
      if (host) host.textContent = "nothing was recorded";
      return;
    }
    host.replaceChildren();
    const stepped = uPlot.paths.stepped({ align: 1 });
    const series = drawn.map(line => ({
      show: !line.hidden, label: line.label, stroke: colour(line.colour), width: 1.5, dash: line.dash, spanGaps: true,
      paths: line.dots ? () => null : stepped,
      points: line.dots ? { show: true, size: 6, fill: colour(line.colour), width: 0 } : { show: false },
      value: (u, value) => value === null || value === undefined ? "–" : value.toLocaleString("en"),
    }));
    const options = {
      width: host.clientWidth, height: HEIGHT, scales: { x: { time: false, range: (u, min, max) => [min, max] } },
      axes: [axis("seconds"), axis(unit)], plugins: [marks(list)],
      cursor: { sync: { key: "whimbrel" } },
      series: [{ label: "seconds", value: (u, at) => at === null || at === undefined ? "–" : at.toFixed(4) }, ...series],
    };
    const values = drawn.length === 1 ? drawn[0].points : uPlot.join(drawn.map(line => line.points));
    charts.push([host, new uPlot(options, values, host)]);
  }

  function draw() {
    charts.forEach(([, u]) => u.destroy());
    charts = [];
    data.associations.forEach((association, number) => {
      const list = association.marks;
      const of = (path, name) => path.quantities[name];
      const each = make => association.paths.flatMap((path, nth) => make(path, "series-" + nth % 6));
      chart(`bytes-${number}`, "bytes", each((path, colour) => [
        { label: path.name, colour, points: of(path, "bytes_sent") },
        { label: "sent again", colour: "loss", dots: true, points: of(path, "again") },
      ]), list);
      chart(`times-${number}`, "milliseconds", each((path, colour) => [
        { label: path.name, colour, points: of(path, "smoothed_rtt") },
        { label: "RTO", colour, hidden: true, dash: [4, 4], points: of(path, "rto") },
      ]), list);
      association.paths.forEach((path, nth) => chart(`window-${number}-${nth}`, "bytes", [
        { label: "cwnd", colour: "series-0", points: of(path, "congestion_window") },
        { label: "ssthresh", colour: "series-1", dash: [4, 4], points: of(path, "ssthresh") },
        { label: "in flight", colour: "series-2", points: of(path, "bytes_in_flight") },
      ], list));
    });
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => charts.forEach(([host, u]) => {
    if (u.width !== host.clientWidth) u.setSize({ width: host.clientWidth, height: HEIGHT });
  })).observe(document.querySelector("main"));
})();
