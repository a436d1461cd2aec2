/** Theme colours of the series, in this order. Each line also has its own pattern, for people who cannot distinguish the colours. */
export const tones = ['accent', 'ok', 'warn', 'danger', 'muted', 'text'] as const;
export type Tone = (typeof tones)[number];

type Series = { name: string; values: readonly (number | null)[] };

/** How values are formatted. `steps`: the distances allowed between grid lines, ascending, where not every decimal one reads well. */
export type Measure = { words(value: number): string; steps?: readonly number[] };

/** What a chart shows. `most`: the end of the scale, where it is fixed. */
export type ChartSpec = Measure & {
  series: readonly Series[];
  most?: number;
} & ({ kind: 'days' | 'times'; /** Epoch ms, rising. */ at: readonly number[] } | { kind: 'names'; names: readonly string[] });

const dayWords = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const timeWords = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The label at a place of the long axis. */
export const placeWords = (spec: ChartSpec, index: number): string =>
  spec.kind === 'names' ? (spec.names[index] ?? '') : momentWords(spec.kind, spec.at[index] ?? 0);
export const momentWords = (kind: 'days' | 'times', at: number): string => (kind === 'days' ? dayWords : timeWords).format(at);

export const toneOf = (index: number): Tone => tones[index % tones.length] ?? 'accent';
