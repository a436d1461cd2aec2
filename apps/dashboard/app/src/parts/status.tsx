import { Ban, CircleCheck, CircleDashed, CircleX, LoaderCircle, TriangleAlert } from 'lucide-react';

/** How something stands: always an icon and a word, never a colour alone. */
export type StatusKind = 'ok' | 'busy' | 'warn' | 'bad' | 'off' | 'none';

const icons = { ok: CircleCheck, busy: LoaderCircle, warn: TriangleAlert, bad: CircleX, off: Ban, none: CircleDashed } as const;

export function Status({ kind, words }: { kind: StatusKind; words: string }) {
  const Icon = icons[kind];
  return (
    <span className={`state ${kind}`}>
      <Icon aria-hidden size={16} /> {words}
    </span>
  );
}
