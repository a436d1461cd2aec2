import { Ban, CircleCheck, CircleDashed, CircleX, LoaderCircle, TriangleAlert } from 'lucide-react';

/** A status: always an icon and a word, never colour alone. */
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
