const height = 120;
const gap = 2;
const dayWords = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

type Props = { label: string; bars: readonly { at: number; value: number; words: string }[] };

/** A bar for each day. Its numbers stand in a table beside it, so to who does not see it it is one picture. */
export function Bars({ label, bars }: Props) {
  const most = Math.max(...bars.map(({ value }) => value));
  const first = bars[0];
  const last = bars.at(-1);
  if (first === undefined || last === undefined || most <= 0) return null;
  const width = 100 / bars.length;
  const top = bars.find(({ value }) => value === most);
  return (
    <figure className="bars">
      <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" role="img" aria-label={`${label}; most: ${top?.words}`}>
        {bars.map(({ at, value, words }, index) => {
          const size = value <= 0 ? 0 : Math.max((value / most) * height, 1);
          return (
            <rect key={at} x={index * width} y={height - size} width={Math.max(width - gap / 10, 0.1)} height={size}>
              <title>{`${dayWords.format(at)}: ${words}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{dayWords.format(first.at)}</span>
        <span>most: {top?.words}</span>
        <span>{dayWords.format(last.at)}</span>
      </figcaption>
    </figure>
  );
}
