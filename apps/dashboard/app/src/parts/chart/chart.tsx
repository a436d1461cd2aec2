import { t } from '@svc/chat-ui/language/t.ts';
import { useEffect, useRef, useState } from 'react';
import { type ChartSpec, placeWords, toneOf } from './chart-spec.ts';
import type { Drawing, Paints } from './draw-chart.ts';

type Props = { label: string; spec: ChartSpec; height?: number };

/**
 * A picture of the numbers in the table beside it, which is there for people who cannot see the chart. The drawing code is loaded with the first chart; colours
 * are those of the theme.
 */
export function Chart({ label, spec, height = 180 }: Props) {
  const figure = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const current = useRef(spec);
  const [place, setPlace] = useState<number | null>(null);
  const [isMissing, setMissing] = useState(false);
  // Another number of series, or another kind, needs a new chart.
  const shape = `${spec.kind} ${spec.series.map(({ name }) => name).join('\n')} ${height} ${spec.most}`;

  useEffect(() => {
    let isShown = true;
    let stop = () => undefined as void;
    import('./draw-chart.ts').then(
      ({ drawChart }) => {
        if (!isShown || box.current === null || figure.current === null) return;
        const element = figure.current;
        const made = drawChart({
          box: box.current,
          spec: current.current,
          height,
          paints: () => paintsOf(element),
          onPlace: setPlace,
        });
        drawing.current = made;
        stop = onTheme(made.redraw);
      },
      () => isShown && setMissing(true), // the table says it all
    );
    return () => {
      isShown = false;
      stop();
      drawing.current?.close();
      drawing.current = null;
    };
  }, [shape, height]);
  useEffect(() => {
    current.current = spec;
    drawing.current?.setSpec(spec);
  }, [spec]);

  return (
    <figure className="chart" ref={figure}>
      <div role="img" aria-label={label} ref={box} style={{ minHeight: isMissing ? 0 : height }} />
      {isMissing && <p className="muted small">{t('The chart could not be loaded. Its numbers are in the table.')}</p>}
      <figcaption>
        {spec.series.map(({ name, values }, index) => (
          <span key={name}>
            <i className={`swatch ${toneOf(index)}`} aria-hidden />
            {name}
            {place !== null && typeof values[place] === 'number' && <b>{spec.words(values[place])}</b>}
          </span>
        ))}
        <span className="muted">{place === null ? '' : placeWords(spec, place)}</span>
      </figcaption>
    </figure>
  );
}

/** The colours that the theme gives the parts of the figure now. */
function paintsOf(figure: HTMLElement): Paints {
  const { color, borderTopColor } = getComputedStyle(figure);
  const swatches = [...figure.querySelectorAll('.swatch')];
  return { axis: color, grid: borderTopColor, series: swatches.map((swatch) => getComputedStyle(swatch).backgroundColor) };
}

/** Calls back when the colours change, by the system or by the person's choice. */
function onTheme(redraw: () => void): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(redraw);
  media.addEventListener('change', redraw);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    media.removeEventListener('change', redraw);
    observer.disconnect();
  };
}
