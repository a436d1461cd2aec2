import 'uplot/dist/uPlot.min.css';
import { shorten } from '@svc/chat-ui/language/shorten.ts';
import uPlot from 'uplot';
import { type ChartSpec, momentWords } from './chart-spec.ts';

export type Paints = { axis: string; grid: string; series: readonly string[] };
type Options = {
  box: HTMLElement;
  spec: ChartSpec;
  height: number;
  /** The colours as they are now. */
  paints(): Paints;
  /** The index under the pointer; null when there is none. */
  onPlace(index: number | null): void;
};

export type Drawing = { setSpec(spec: ChartSpec): void; redraw(): void; close(): void };

const patterns = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 2], [8, 8]];
const font = '12px system-ui, sans-serif';

/** Draws a chart as wide as its box, and again when that changes. */
export function drawChart({ box, spec, height, paints, onPlace }: Options): Drawing {
  let shown = spec;
  const options: uPlot.Options = {
    width: Math.max(box.clientWidth, 1),
    height,
    ms: 1,
    padding: [16, 32, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: spec.kind === 'times' }, y: false },
    hooks: { setCursor: [({ cursor: { idx } }) => onPlace(idx ?? null)] },
    ...scalesAndAxes(() => shown, paints),
    series: [{}, ...spec.series.map((_, index) => seriesOf(spec, index, paints))],
  };
  const plot = new uPlot(options, dataOf(spec), box);
  const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(box.clientWidth, 1), height }));
  observer.observe(box);
  return {
    setSpec(next) {
      shown = next;
      plot.setData(dataOf(next));
    },
    // Set together with the data, because drawn bars keep their colour.
    redraw: () => plot.setData(dataOf(shown)),
    close() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

const dataOf = (spec: ChartSpec): uPlot.AlignedData => [
  spec.kind === 'names' ? spec.names.map((_, index) => index) : [...spec.at],
  ...spec.series.map(({ values }) => [...values]),
];

function seriesOf({ kind, series }: ChartSpec, index: number, paints: Options['paints']): uPlot.Series {
  const paint = () => paints().series[index] ?? '';
  if (kind === 'times')
    return { stroke: paint, width: 2, dash: patterns[index % patterns.length] ?? [], points: { show: false } };
  // Bars of the same place are drawn side by side.
  const size: [number, number] = [0.8 / series.length, 48];
  const align = series.length === 1 ? 0 : index === 0 ? -1 : 1;
  const paths = uPlot.paths.bars?.({ size, align, gap: 1 });
  return { fill: paint, stroke: paint, width: 0, points: { show: false }, ...(paths !== undefined && { paths }) };
}

/** Names are listed downwards on the left; times go to the right. */
function scalesAndAxes(spec: () => ChartSpec, paints: Options['paints']): Pick<uPlot.Options, 'scales' | 'axes'> {
  const { kind, most, steps } = spec();
  const areNames = kind === 'names';
  const paint = { stroke: () => paints().axis, font, ticks: { show: false } };
  const grid = { stroke: () => paints().grid, width: 1 };
  const half = kind === 'times' ? 0 : kind === 'names' ? 0.5 : 43_200_000;
  const around: uPlot.Range.Function = (_, from, to) => [from - half, to + half];
  return {
    scales: {
      x: { time: !areNames, range: around, ...(areNames && { ori: 1, dir: -1 }) },
      y: {
        range: (_, __, to) => [0, most ?? Math.max(to * 1.05, steps?.[0] ?? (to > 0 ? 0 : 1))],
        ...(areNames && { ori: 0, dir: 1 }),
      },
    },
    axes: [
      {
        ...paint,
        size: 32,
        grid: { show: false },
        ...(areNames
          ? {
              side: 3,
              size: 120,
              splits: (plot) => [...(plot.data[0] ?? [])],
              values: (_, at) => at.map((place) => nameAt(spec(), place)),
            }
          : { space: 64, incrs: placeSteps[kind], values: (_, at) => at.map((moment) => momentWords(kind, moment)) }),
      },
      {
        ...paint,
        grid,
        ...(steps !== undefined && { incrs: [...steps] }),
        ...(areNames ? { side: 2, space: 80 } : { size: 64 }),
        values: (_, at) => at.map((value) => spec().words(value)),
      },
    ],
  };
}

const minute = 60_000;
const day = 86_400_000;
/** Distances between the labels of the long axis: no minute and no day appears twice. */
const placeSteps = {
  times: [1, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * minute),
  days: [1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 180].map((days) => days * day),
};

const maxName = 16;
function nameAt(spec: ChartSpec, place: number): string {
  return spec.kind === 'names' ? shorten(spec.names[place] ?? '', maxName) : '';
}
