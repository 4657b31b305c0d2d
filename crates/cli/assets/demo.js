"use strict";
(() => {
  const root = document.documentElement.classList;
  root.add("drawn");
  const data = JSON.parse(document.getElementById("data").textContent);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  let charts = [];
  // Paper has another width, which no script is told: charts are drawn for A4, and the style sheet stretches them to the room there is.
  const A4 = 700;
  const width = host => (root.contains("printing") ? A4 : host.clientWidth);

  // Shades the time without Wi-Fi and the pause, under the data, and names them.
  const marks = { hooks: { drawAxes: [u => {
    const { ctx, bbox } = u;
    const x = at => Math.min(Math.max(u.valToPos(at, "x", true), bbox.left), bbox.left + bbox.width);
    const shade = (from, to, fill) => {
      ctx.fillStyle = fill;
      ctx.fillRect(x(from), bbox.top, Math.max(x(to) - x(from), 1), bbox.height);
    };
    const line = (at, text) => {
      if (at === null || at < u.scales.x.min || at > u.scales.x.max) return;
      ctx.strokeStyle = ctx.fillStyle = colour("faint");
      ctx.lineWidth = devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(x(at), bbox.top);
      ctx.lineTo(x(at), bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
      const width = ctx.measureText(text).width, pad = 4 * devicePixelRatio;
      const fits = x(at) + width + 2 * pad < bbox.left + bbox.width;
      ctx.textAlign = fits ? "left" : "right";
      ctx.textBaseline = "top";
      ctx.fillText(text, x(at) + (fits ? pad : -pad), bbox.top + pad);
    };
    ctx.save();
    shade(data.cut, data.back ?? data.end, colour("dead"));
    shade(data.gap[0], data.gap[1], colour("pause"));
    line(data.cut, "Wi-Fi dies");
    line(data.back, "Wi-Fi is back");
    ctx.restore();
  }] } };

  const axis = (label, extra) => ({
    label, stroke: colour("faint"), grid: { stroke: colour("grid"), width: 1 },
    ticks: { stroke: colour("line"), width: 1 }, ...extra,
  });

  function chart(id, label, series, values, range, extra) {
    const host = document.getElementById(id);
    host.replaceChildren();
    const options = {
      width: width(host), height: host.clientHeight, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: range ? () => range : undefined }, y: { range: (u, min, max) => [Math.min(min, 0) || min, max * 1.05] }, ...extra },
      axes: [axis("seconds"), axis(label, { size: 64 })], series, plugins: [marks],
    };
    charts.push([host, new uPlot(options, values, host)]);
  }

  // Both networks' points on one time axis: a network has no value where a point is the other's.
  function dots(networks) {
    const all = networks.flatMap((points, network) => points.map(([at, sent, lost]) => [at, sent, lost ? 2 : network]));
    all.sort((a, b) => a[0] - b[0]);
    return [all.map(p => p[0]), ...[0, 1, 2].map(kind => all.map(p => p[2] === kind ? p[1] : null))];
  }

  function dotSeries(size) {
    return [{}, ...["wifi", "lte", "lost"].map(name => ({
      paths: () => null, points: { show: true, size, width: 0, fill: colour(name), stroke: colour(name) },
    }))];
  }

  const yFromData = { y: { range: (u, min, max) => [min - (max - min) * .05, max + (max - min) * .1] } };

  function draw() {
    charts.forEach(([, u]) => u.destroy());
    charts = [];
    const steps = uPlot.paths.stepped({ align: 1 });
    const area = name => ({ stroke: colour(name), fill: colour(name) + "33", width: 2, paths: steps, points: { show: false } });
    chart("rates", "Mbit/s", [{}, area("wifi"), area("lte")],
      [data.rates.at, ...data.rates.networks], [0, data.end], { y: { range: (u, min, max) => [0, max * 1.15] } });
    chart("close-up", "MB sent", dotSeries(3), dots(data.closeUp.networks), [data.closeUp.from, data.closeUp.to], yFromData);
    chart("overview", "MB sent", dotSeries(2.5), dots(data.overview), [0, data.end], yFromData);
  }

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => { root.add("printing"); draw(); });
  addEventListener("afterprint", () => { root.remove("printing"); draw(); });
  new ResizeObserver(() => root.contains("printing") || charts.forEach(([host, u]) => {
    if (u.width !== host.clientWidth) u.setSize({ width: host.clientWidth, height: host.clientHeight });
  })).observe(document.querySelector("main"));
})();
