'use strict';
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b58900', '#56b4e9', '#8a5cd6', '#7f7f7f', '#a6761d', '#e7298a'];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = value => value == null ? '–' : +value.toPrecision(4) + '';

// Every line on one common set of x values; a level line has the same value everywhere.
function table(plot) {
  const xs = new Set();
  for (const line of plot.lines) for (const point of line.points) xs.add(point[0]);
  const x = [...xs].sort((a, b) => a - b);
  const rows = plot.lines.map(line => {
    if (line.level != null) return x.map(() => line.level);
    const known = new Map(line.points.map(point => [point[0], point]));
    return x.map(value => known.has(value) ? known.get(value)[1] : null);
  });
  return [x, ...rows];
}

// Confidence intervals as bars.
function bars(plot) {
  return chart => {
    const pen = chart.ctx;
    pen.save();
    pen.lineWidth = devicePixelRatio;
    plot.lines.forEach((line, index) => {
      if (!chart.series[index + 1].show) return;
      pen.strokeStyle = COLOURS[index % COLOURS.length];
      for (const [x, y, half] of line.points) {
        if (!(half > 0) || (plot.y.log && y - half <= 0)) continue;
        const across = chart.valToPos(x, 'x', true);
        pen.beginPath();
        pen.moveTo(across, chart.valToPos(y - half, 'y', true));
        pen.lineTo(across, chart.valToPos(y + half, 'y', true));
        pen.stroke();
      }
    });
    pen.restore();
  };
}

function draw(place, plot) {
  place.replaceChildren();
  const grid = { stroke: style('--line'), width: 1 };
  const axis = label => ({ stroke: style('--ink'), grid, ticks: grid, label, labelSize: 22, size: 56, values: (_, splits) => splits.map(value => value == null ? '' : number(value)) });
  const series = plot.lines.map((line, index) => ({
    label: line.label, stroke: COLOURS[index % COLOURS.length], width: 2, spanGaps: true,
    dash: line.level != null ? [4, 4] : DASHES[Math.floor(index / COLOURS.length) % DASHES.length],
    points: { show: line.level == null, size: 6 }, value: (_, value) => number(value),
  }));
  const width = Math.max(280, place.clientWidth - 4);
  new uPlot({
    width, height: Math.min(420, Math.max(260, width * .55)),
    scales: { x: { time: false, distr: plot.x.log ? 3 : 1 }, y: { distr: plot.y.log ? 3 : 1 } },
    axes: [{ ...axis(plot.x.label), size: 40 }, axis(plot.y.label)],
    series: [{ label: plot.x.label, value: (_, value) => number(value) }, ...series],
    hooks: { draw: [bars(plot)] },
  }, table(plot), place);
}

function drawAll() {
  const plots = JSON.parse(document.getElementById('plots').textContent);
  document.querySelectorAll('[data-plot]').forEach(place => draw(place, plots[+place.dataset.plot]));
}
drawAll();
let waiting, width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(drawAll, 150);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
