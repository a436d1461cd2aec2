import { t } from '@svc/chat-ui/language/t.ts';
import { Check, TriangleAlert, X } from 'lucide-react';
import { useSyncExternalStore } from 'react';

type Toast = { id: number; kind: 'done' | 'fault'; words: string };

const shownMs = 6000;
let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

const set = (next: readonly Toast[]) => {
  toasts = next;
  for (const listener of listeners) listener();
};
const drop = (id: number) => set(toasts.filter((one) => one.id !== id));

/** Says briefly what has happened. A fault stays until it is closed. */
export function toast(words: string, kind: Toast['kind'] = 'done'): void {
  const id = nextId++;
  set([...toasts.filter((one) => one.words !== words), { id, kind, words }].slice(-4));
  if (kind === 'done') setTimeout(() => drop(id), shownMs);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, kind, words }) => (
        <div key={id} className={`toast ${kind}`}>
          {kind === 'done' ? <Check aria-hidden size={16} /> : <TriangleAlert aria-hidden size={16} />}
          <span>{words}</span>
          <button type="button" className="icon" aria-label={t('Close message')} onClick={() => drop(id)}>
            <X aria-hidden size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
