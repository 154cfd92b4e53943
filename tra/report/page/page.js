// Makes a page of tra alive: charts that show values, and heatmaps. Without it, charts are still there as pictures.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // Reads colours of the style sheet, which canvases cannot use by name.
  const probe = make('i', { hidden: '' });
  document.body.append(probe);
  const cssColor = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };

  const redraws = [];
  const redrawAll = () => redraws.forEach((redraw) => redraw());

  // ---- Charts --------------------------------------------------------------------------------------------------

  const shortNumber = (value) => {
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace('e+', 'e').replace(/\.?0+e/, 'e');
    return String(Number(value.toPrecision(5)));
  };

  const colorOf = (style) => (isDark() ? style.dark : style.color);
  const withAlpha = (color, alpha) => color + Math.round(alpha * 255).toString(16).padStart(2, '0');
  const dashesOf = (style) => (style.dashes === 'none' ? [] : style.dashes.split(' ').map(Number));

  const distribution = { linear: { distr: 1 }, log2: { distr: 3, log: 2 }, log10: { distr: 3, log: 10 } };

  const uplotAxis = (axis, side) => {
    const result = {
      side,
      label: side === 2 ? axis.label : undefined,
      labelSize: 20,
      labelFont: '12px system-ui, sans-serif',
      font: '11px system-ui, sans-serif',
      stroke: () => cssColor('--soft'),
      grid: { stroke: () => cssColor('--line'), width: 1, show: side === 3 },
      ticks: { stroke: () => cssColor('--line'), width: 1, size: 5 },
      size: side === 3 ? 52 : 34,
      space: side === 3 ? 26 : 44,
    };
    if (axis.ticks) {
      const labels = new Map(axis.ticks);
      result.splits = (u, index, low, high) => axis.ticks.map((tick) => tick[0]).filter((at) => at >= low && at <= high);
      result.values = (u, splits) => {
        // Leaves out labels that would run into the one before.
        let free = -1e9;
        return splits.map((at) => {
          const label = labels.get(at) ?? shortNumber(at);
          if (side === 3) return label;
          const middle = u.valToPos(at, 'x');
          const half = label.length * 3.4;
          if (middle - half < free) return '';
          free = middle + half + 3;
          return label;
        });
      };
      result.filter = (u, splits) => splits;
    } else {
      result.values = (u, splits) => splits.map((at) => (at === null ? '' : shortNumber(at)));
    }
    return result;
  };

  const drawMarkers = (u, chart, panel) => {
    const { ctx } = u;
    const ratio = devicePixelRatio || 1;
    panel.series.forEach((series, number) => {
      if (!u.series[3 * number + 1].show) return;
      const style = chart.styles[series.style];
      const shape = new Path2D(style.marker);
      const points = series.y.filter((y) => typeof y === 'number').length;
      const every = points <= 24 ? 1 : Math.floor(points / 8);
      series.y.forEach((y, index) => {
        if (typeof y !== 'number' || index % every !== 0) return;
        const left = u.valToPos(panel.at[index], 'x', true);
        const top = u.valToPos(y, 'y', true);
        if (left < u.bbox.left - 1 || left > u.bbox.left + u.bbox.width + 1) return;
        ctx.save();
        ctx.translate(left, top);
        ctx.scale(ratio, ratio);
        ctx.lineWidth = 1.2;
        ctx.strokeStyle = colorOf(style);
        ctx.fillStyle = style.filled ? colorOf(style) : cssColor('--paper');
        ctx.fill(shape);
        ctx.stroke(shape);
        ctx.restore();
      });
    });
  };

  // Writes NaN and infinities at the top of the plot, and the line that says how far training went.
  const drawNotes = (u, chart, panel) => {
    const { ctx } = u;
    const ratio = devicePixelRatio || 1;
    const written = new Map();
    ctx.save();
    ctx.textAlign = 'center';
    ctx.font = `bold ${11 * ratio}px system-ui, sans-serif`;
    panel.series.forEach((series, number) => {
      if (!u.series[3 * number + 1].show) return;
      let before = true;
      series.y.forEach((y, index) => {
        const odd = typeof y === 'string';
        if (odd && before) {
          const row = written.get(index) ?? 0;
          written.set(index, row + 1);
          ctx.fillStyle = colorOf(chart.styles[series.style]);
          ctx.fillText(y, u.valToPos(panel.at[index], 'x', true), u.bbox.top + (12 + 12 * row) * ratio);
        }
        if (y !== null) before = !odd;
      });
    });
    if (panel.x.mark) {
      const [at, label] = panel.x.mark;
      const x = u.valToPos(at, 'x', true);
      if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) {
        const left = x > u.bbox.left + u.bbox.width / 2;
        ctx.strokeStyle = ctx.fillStyle = cssColor('--soft');
        ctx.setLineDash([3 * ratio, 3 * ratio]);
        ctx.beginPath();
        ctx.moveTo(x, u.bbox.top);
        ctx.lineTo(x, u.bbox.top + u.bbox.height);
        ctx.stroke();
        ctx.font = `${10 * ratio}px system-ui, sans-serif`;
        ctx.textAlign = left ? 'right' : 'left';
        ctx.fillText(label, x + (left ? -4 : 4) * ratio, u.bbox.top + u.bbox.height / 2);
      }
    }
    ctx.restore();
  };

  const columnsOf = (panel) => {
    const number = (value) => (typeof value === 'number' ? value : null);
    const columns = [panel.at];
    for (const series of panel.series) {
      columns.push(series.y.map(number));
      columns.push((series.low ?? series.y).map(number), (series.high ?? series.y).map(number));
    }
    return columns;
  };

  const rowsAt = (u, chart, panel, index) => {
    const rows = [];
    panel.series.forEach((series, number) => {
      if (series.y[index] === null || !u.series[3 * number + 1].show) return;
      rows.push({ series, value: series.y[index], style: chart.styles[series.style] });
    });
    const order = (row) => (typeof row.value === 'number' ? row.value : Infinity);
    rows.sort((a, b) => order(b) - order(a));
    return rows;
  };

  const showTip = (u, chart, panel, tip) => {
    const index = u.cursor.idx;
    const rows = index === null || index === undefined || u.cursor.left < 0 ? [] : rowsAt(u, chart, panel, index);
    tip.classList.toggle('shown', rows.length > 0);
    if (rows.length === 0) return;
    const tick = panel.x.ticks?.find((each) => each[0] === panel.at[index]);
    tip.replaceChildren(make('b', {}, `${panel.x.label} ${tick ? tick[1] : shortNumber(panel.at[index])}`));
    for (const row of rows) {
      const swatch = make('i');
      swatch.style.background = colorOf(row.style);
      const value = typeof row.value === 'number' ? shortNumber(row.value) : row.value;
      const line = make('div', {}, swatch, `${row.style.name}: ${value} `);
      if (row.series.low && typeof row.series.low[index] === 'number' && typeof row.series.high[index] === 'number') {
        line.append(make('span', {}, `${shortNumber(row.series.low[index])} to ${shortNumber(row.series.high[index])}`));
      }
      tip.append(line);
    }
    const rightSide = u.cursor.left < u.over.clientWidth / 2;
    tip.style.left = rightSide ? 'auto' : '60px';
    tip.style.right = rightSide ? '8px' : 'auto';
  };

  const makePanel = (chart, panel, place) => {
    const tip = make('div', { class: 'tip', 'aria-live': 'polite' });
    let plot = null;
    const draw = () => {
      const shown = plot ? plot.series.map((each) => each.show) : null;
      if (plot) plot.destroy();
      const series = [{}];
      const bands = [];
      panel.series.forEach((each, number) => {
        const style = chart.styles[each.style];
        const hidden = { stroke: 'rgba(0,0,0,0)', width: 0, points: { show: false } };
        series.push({
          label: style.name,
          stroke: colorOf(style),
          width: 2,
          dash: dashesOf(style),
          points: { show: false },
          spanGaps: false,
        });
        series.push({ ...hidden }, { ...hidden });
        if (each.low) bands.push({ series: [3 * number + 3, 3 * number + 2], fill: withAlpha(colorOf(style), 0.16) });
      });
      const first = panel.at[0];
      const last = panel.at[panel.at.length - 1];
      const options = {
        width: Math.max(200, place.clientWidth),
        height: 250,
        legend: { show: false },
        padding: [10, 18, 0, 0],
        cursor: { drag: { x: true, y: false, dist: 8 }, focus: { prox: 24 }, points: { size: 6 } },
        focus: { alpha: 0.35 },
        scales: {
          x: {
            time: false,
            ...distribution[panel.x.scale],
            range: (u, low, high) => (low === null || (low <= first && high >= last) ? [panel.x.low, panel.x.high] : [low, high]),
          },
          y: { ...distribution[panel.y.scale], range: () => [panel.y.low, panel.y.high] },
        },
        axes: [uplotAxis(panel.x, 2), uplotAxis(panel.y, 3)],
        series,
        bands,
        hooks: {
          draw: [(u) => drawMarkers(u, chart, panel), (u) => drawNotes(u, chart, panel)],
          setCursor: [(u) => showTip(u, chart, panel, tip)],
        },
      };
      plot = new uPlot(options, columnsOf(panel), place);
      if (shown) shown.forEach((show, index) => index > 0 && !show && plot.setSeries(index, { show: false }));
    };
    draw();
    redraws.push(draw);
    place.append(tip);
    place.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === 'Escape') plot.setCursor({ left: -10, top: -10 });
      if (!step) return;
      event.preventDefault();
      const now = plot.cursor.left >= 0 ? plot.cursor.idx ?? -1 : step > 0 ? -1 : panel.at.length;
      const next = Math.min(panel.at.length - 1, Math.max(0, now + step));
      plot.setCursor({ left: plot.valToPos(panel.at[next], 'x'), top: plot.over.clientHeight / 2 });
    });
    new ResizeObserver(() => {
      const width = Math.max(200, place.clientWidth);
      if (plot && Math.abs(plot.width - width) > 1) plot.setSize({ width, height: 250 });
    }).observe(place);
    return {
      toggle: (name, show) => {
        panel.series.forEach((each, number) => {
          if (chart.styles[each.style].name !== name) return;
          for (let index = 3 * number + 1; index <= 3 * number + 3; ++index) plot.setSeries(index, { show });
        });
      },
    };
  };

  const svgNamespace = 'http://www.w3.org/2000/svg';
  const legendSample = (style) => {
    const svg = document.createElementNS(svgNamespace, 'svg');
    svg.setAttribute('viewBox', '-16 -6 32 12');
    svg.setAttribute('width', '32');
    svg.setAttribute('height', '12');
    svg.setAttribute('aria-hidden', 'true');
    for (const d of ['M-16 0H16', style.marker]) {
      const path = document.createElementNS(svgNamespace, 'path');
      path.setAttribute('d', d);
      path.style.stroke = `light-dark(${style.color}, ${style.dark})`;
      path.style.fill = d === style.marker ? (style.filled ? path.style.stroke : 'var(--paper)') : 'none';
      if (d !== style.marker) {
        path.style.strokeWidth = '2';
        if (style.dashes !== 'none') path.style.strokeDasharray = style.dashes;
      }
      svg.append(path);
    }
    return svg;
  };

  const makeChart = (figure, chart) => {
    const live = make('div', { class: 'live' });
    const legend = make('ul', { class: 'legend', 'aria-label': 'lines; press to hide or show' });
    const panels = make('div', { class: 'panels' });
    live.append(legend, panels);
    figure.querySelector('.still').after(live);
    figure.classList.add('is-live');
    const made = chart.panels.map((panel) => {
      const place = make('div', {
        class: 'panel',
        tabindex: '0',
        role: 'group',
        'aria-label': `${panel.title || chart.title}: ${panel.y.label} by ${panel.x.label}; arrow keys read values`,
      });
      place.append(make('h4', {}, panel.title ? `${panel.title} · ${panel.y.label}` : panel.y.label));
      panels.append(place);
      return makePanel(chart, panel, place);
    });
    for (const style of chart.styles) {
      const button = make('button', { type: 'button', 'aria-pressed': 'true' }, legendSample(style), style.name);
      button.addEventListener('click', () => {
        const show = button.getAttribute('aria-pressed') === 'false';
        button.setAttribute('aria-pressed', String(show));
        made.forEach((panel) => panel.toggle(style.name, show));
      });
      legend.append(make('li', {}, button));
    }
  };

  // ---- Heatmaps ------------------------------------------------------------------------------------------------

  // A cell is a byte: 0 for a dropped key, 1 for one that the walk never reached, else the root of its weight.
  const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const weightOf = (cell) => ((cell - 2) / 253) ** 2;
  const cellAt = (cells, query, key) => cells[(query * (query + 1)) / 2 + key];

  const rgbOf = (color) => color.match(/[\d.]+/g).slice(0, 3).map(Number);
  const mix = (from, to, share) => from.map((each, index) => each + share * (to[index] - each));

  // The colours of tra heatmap, and for dark pages the same idea: no weight has the colour of a dropped key or of none.
  const rampOf = () => {
    const stops = isDark()
      ? [[28, 48, 74], [36, 86, 138], [66, 140, 204], [146, 204, 244], [238, 248, 255]]
      : [[210, 227, 244], [158, 199, 229], [83, 156, 204], [28, 102, 171], [8, 48, 107]];
    return (share) => {
      const at = Math.min(share, 0.9999) * (stops.length - 1);
      const low = Math.floor(at);
      return mix(stops[low], stops[low + 1], at - low);
    };
  };

  const drawHead = (canvas, cells, length) => {
    const scale = Math.max(1, Math.ceil(560 / length));
    canvas.width = canvas.height = length * scale;
    const image = new ImageData(length * scale, length * scale);
    const ramp = rampOf();
    const special = [rgbOf(cssColor('--dropped')), rgbOf(cssColor('--skipped'))];
    const future = rgbOf(cssColor('--future'));
    for (let query = 0; query < length; ++query) {
      for (let key = 0; key < length; ++key) {
        const cell = key > query ? -1 : cellAt(cells, query, key);
        const color = cell < 0 ? future : cell < 2 ? special[cell] : ramp((cell - 2) / 253);
        for (let y = query * scale; y < (query + 1) * scale; ++y) {
          for (let x = key * scale; x < (key + 1) * scale; ++x) {
            const at = 4 * (y * length * scale + x);
            image.data[at] = color[0];
            image.data[at + 1] = color[1];
            image.data[at + 2] = color[2];
            image.data[at + 3] = 255;
          }
        }
      }
    }
    canvas.getContext('2d').putImageData(image, 0, 0);
  };

  const describeCell = (set, head, cells, query, key) => {
    const name = (at) => `${at} “${set.tokens[at]}”`;
    if (key > query) return `query ${name(query)}, key ${name(key)}: not visible, it comes later`;
    const cell = cellAt(cells, query, key);
    const where = `${head.name}: query ${name(query)}, key ${name(key)}: `;
    if (cell === 0) return where + 'dropped, weight exactly 0';
    if (cell === 1) return where + 'kept, but behind the early stop, weight 0';
    let text = `${where}weight ${weightOf(cell).toPrecision(2)}`;
    if (set.threshold) {
      let distance = 0;
      for (let at = key; at <= query; ++at) distance += cellAt(cells, query, at) > 0 ? 1 : 0;
      text += `, distance ${distance} in kept keys, ${query - key} in tokens`;
    }
    return text;
  };

  const makeHeatmaps = (place, set) => {
    const heads = make('div', { class: 'heads' });
    const readout = make('p', { class: 'readout screen', 'aria-live': 'polite' });
    readout.textContent = 'Point at a cell, or focus a head and use the arrow keys; click enlarges.';
    for (const head of set.heads) {
      const cells = bytesOf(head.cells);
      const length = set.tokens.length;
      const canvas = make('canvas', { role: 'img', 'aria-label': `attention of ${head.name}: ${head.words}` });
      const button = make('button', { type: 'button', class: 'head', 'aria-expanded': 'false' });
      button.append(canvas, make('span', {}, `${head.name} · ${head.words}`));
      const at = { query: length - 1, key: length - 1 };
      const show = () => {
        readout.textContent = describeCell(set, head, cells, at.query, at.key);
      };
      canvas.addEventListener('mousemove', (event) => {
        const box = canvas.getBoundingClientRect();
        const place = (share) => Math.min(length - 1, Math.max(0, Math.floor(share * length)));
        at.key = place((event.clientX - box.left) / box.width);
        at.query = place((event.clientY - box.top) / box.height);
        show();
      });
      button.addEventListener('keydown', (event) => {
        const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        if (!move) return;
        event.preventDefault();
        at.query = Math.min(length - 1, Math.max(0, at.query + move[0]));
        at.key = Math.min(at.query, Math.max(0, at.key + move[1]));
        show();
      });
      button.addEventListener('click', () => {
        button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') === 'false'));
      });
      const draw = () => drawHead(canvas, cells, length);
      draw();
      redraws.push(draw);
      heads.append(button);
    }
    place.append(heads, readout);
  };

  const paintRamps = () => {
    const ramp = rampOf();
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => `rgb(${ramp(share).map(Math.round).join(',')})`);
    for (const each of document.querySelectorAll('.ramp')) {
      each.style.background = `linear-gradient(to right, ${stops.join(',')})`;
    }
  };

  // ---- The page ------------------------------------------------------------------------------------------------

  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    makeChart(figure, data.charts[Number(figure.dataset.chart)]);
  }
  for (const place of document.querySelectorAll('[data-heatmaps]')) {
    makeHeatmaps(place, data.heatmaps[Number(place.dataset.heatmaps)]);
  }
  redraws.push(paintRamps);
  paintRamps();

  system.addEventListener('change', redrawAll);
  const theme = document.getElementById('theme');
  theme.hidden = false;
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    redrawAll();
  });

  // Paper is white: heatmaps are drawn light, and folded parts open, as long as it is printed.
  let before = null;
  addEventListener('beforeprint', () => {
    const folded = [...document.querySelectorAll('details.print:not([open])')];
    before = { theme: root.dataset.theme, folded };
    folded.forEach((each) => (each.open = true));
    root.dataset.theme = 'light';
    redrawAll();
  });
  addEventListener('afterprint', () => {
    if (!before) return;
    before.folded.forEach((each) => (each.open = false));
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before = null;
    redrawAll();
  });
  root.dataset.ready = `${data.charts.length} charts, ${data.heatmaps.length} heatmaps`;
})();
