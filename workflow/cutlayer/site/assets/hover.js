// Points of a trade-off that say what they are, drawn by Chart.js when their box is opened.
const STYLES = { o: "circle", s: "rect", "^": "triangle", D: "rectRot", v: "triangle", P: "cross", "<": "triangle", X: "crossRot", ">": "triangle", d: "rectRot", "*": "star" };
const INK = "#1b1f24"; // on white, in light and dark
const TURNED = { v: 180, "<": 270, ">": 90 };
const shown = (value) => (value === null ? "" : Number(value.toPrecision(4)).toString());
const range = (low, high) => (low === null || low === high ? "" : ` (${shown(low)} to ${shown(high)})`);

// Intervals as thin lines behind the points.
const intervals = {
  id: "intervals",
  beforeDatasetsDraw({ ctx, data, chartArea: { left, top, width, height }, scales: { x, y } }) {
    data.datasets.forEach(({ data: points, borderColor }) => {
      ctx.save();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = borderColor;
      ctx.globalAlpha = 0.35;
      points.forEach((p) => {
        const line = (x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x.getPixelForValue(x0), y.getPixelForValue(y0)); ctx.lineTo(x.getPixelForValue(x1), y.getPixelForValue(y1)); ctx.stroke(); };
        if (p.x_low !== null) line(p.x_low, p.y, p.x_high, p.y);
        if (p.y_low !== null) line(p.x, p.y_low, p.x, p.y_high);
      });
      ctx.restore();
    });
  },
};

const decade = (value) => (Number.isInteger(Math.round(1e6 * Math.log10(value)) / 1e6) ? shown(value) : "");

// On a logarithmic axis what is 0 or less is shown at the edge, below all else.
function placed(panel, side, log) {
  const ends = panel.series.flatMap(({ points }) => points.flatMap((p) => [p[side], p[`${side}_low`], p[`${side}_high`]])).filter((end) => end !== null && (!log || end > 0));
  const least = Math.min(...ends), edge = log ? least / 2 : -Infinity;
  panel.series.forEach(({ points }) => points.forEach((p) => {
    p.said ||= { x: p.x, y: p.y, x_low: p.x_low, x_high: p.x_high, y_low: p.y_low, y_high: p.y_high };
    for (const end of [side, `${side}_low`, `${side}_high`]) if (p[end] !== null) p[end] = Math.max(p[end], edge);
  }));
  const below = panel.series.some(({ points }) => points.some((p) => p.said[side] <= 0));
  return log ? { min: edge, below } : { suggestedMin: least, suggestedMax: Math.max(...ends) };
}

function draw(box) {
  const { x, y, panels } = JSON.parse(box.querySelector("script").textContent), select = box.querySelector("select");
  panels.forEach((panel, i) => select.add(new Option(panel.title, i)));
  const axis = (panel, { label, log }, side) => {
    const { below, ...ends } = placed(panel, side, log), title = below ? `${label}; 0 at the edge` : label;
    const ticks = { color: INK, ...(log ? { callback: decade, autoSkip: false, maxRotation: 0 } : {}) };
    return { ...ends, type: log ? "logarithmic" : "linear", ticks, title: { display: true, text: title, color: INK } };
  };
  const scales = (panel) => ({ x: axis(panel, x, "x"), y: axis(panel, y, "y") });
  const datasets = (panel) => panel.series.map(({ name, color, marker, points }) => ({
    label: name, data: points, borderColor: color, backgroundColor: color, pointStyle: STYLES[marker] || "circle",
    rotation: TURNED[marker] || 0, radius: 6, hoverRadius: 9, borderWidth: 2, clip: 12,
  }));
  const tooltip = ({ raw: { said, setting, seeds }, dataset }) => [
    [dataset.label, setting].filter(Boolean).join(", "),
    `${x.label}: ${shown(said.x)}${range(said.x_low, said.x_high)}`,
    `${y.label}: ${shown(said.y)}${range(said.y_low, said.y_high)}`,
    `attack ${panels[select.value].attack}, ${seeds} seeds`,
  ];
  const chart = new Chart(box.querySelector("canvas"), {
    type: "scatter",
    data: { datasets: datasets(panels[0]) },
    options: {
      animation: false, maintainAspectRatio: false, scales: scales(panels[0]),
      plugins: { legend: { position: "bottom", labels: { usePointStyle: true, color: INK } }, tooltip: { displayColors: false, callbacks: { label: tooltip } } },
    },
    plugins: [intervals],
  });
  select.onchange = () => {
    chart.options.scales = scales(panels[select.value]);
    chart.data.datasets = datasets(panels[select.value]);
    chart.update();
  };
}

document.querySelectorAll("details.hover").forEach((box) => {
  box.addEventListener("toggle", () => draw(box), { once: true });
});
