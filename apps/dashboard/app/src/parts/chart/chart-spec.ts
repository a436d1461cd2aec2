/** Colours of the theme that series take, in this order. A line also has a pattern of its own, for who cannot tell them. */
export const tones = ['accent', 'ok', 'warn', 'danger', 'muted', 'text'] as const;
export type Tone = (typeof tones)[number];

type Series = { name: string; values: readonly (number | null)[] };

/** How values are said. `steps`: the distances that lines of the scale may have, rising, where not every decimal one reads well. */
export type Measure = { words(value: number): string; steps?: readonly number[] };

/** What a chart shows. `most`: the end of the scale, where there is one. */
export type ChartSpec = Measure & {
  series: readonly Series[];
  most?: number;
} & ({ kind: 'days' | 'times'; /** Epoch ms, rising. */ at: readonly number[] } | { kind: 'names'; names: readonly string[] });

const dayWords = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const timeWords = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** What stands at a place of the long axis. */
export const placeWords = (spec: ChartSpec, index: number): string =>
  spec.kind === 'names' ? (spec.names[index] ?? '') : momentWords(spec.kind, spec.at[index] ?? 0);
export const momentWords = (kind: 'days' | 'times', at: number): string => (kind === 'days' ? dayWords : timeWords).format(at);

export const toneOf = (index: number): Tone => tones[index % tones.length] ?? 'accent';
