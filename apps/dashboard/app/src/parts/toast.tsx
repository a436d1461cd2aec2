import { t } from '@svc/chat-ui/language/t.ts';
import { Check, TriangleAlert, X } from 'lucide-react';
import { useSyncExternalStore } from 'react';

/** `dialog`: where it is shown; null: on the page. `isOfAct`: it is removed with its dialog. */
type Toast = { id: number; kind: 'done' | 'fault'; words: string; dialog: string | null; isOfAct: boolean };
type Shown = { toasts: readonly Toast[]; dialogs: readonly string[] };

const shownMs = 6000;
let shown: Shown = { toasts: [], dialogs: [] };
let nextId = 1;
const listeners = new Set<() => void>();

const set = (next: Partial<Shown>) => {
  shown = { ...shown, ...next };
  for (const listener of listeners) listener();
};
const drop = (id: number) => set({ toasts: shown.toasts.filter((one) => one.id !== id) });
const topOf = (dialogs: readonly string[]): string | null => dialogs.at(-1) ?? null;

/** Shows briefly what has happened. An error stays until it is closed. */
export function toast(words: string, kind: Toast['kind'] = 'done'): void {
  const id = add({ kind, words, isOfAct: false });
  if (kind === 'done') setTimeout(() => drop(id), shownMs);
}

/** Shows why an act was refused, until the message is closed or withdrawn, or its dialog is closed. */
export function toastFault(words: string): () => void {
  const id = add({ kind: 'fault', words, isOfAct: true });
  return () => drop(id);
}

function add(given: Omit<Toast, 'id' | 'dialog'>): number {
  const id = nextId++;
  const one = { id, ...given, dialog: topOf(shown.dialogs) };
  set({ toasts: [...shown.toasts.filter(({ words }) => words !== given.words), one].slice(-4) });
  return id;
}

/** Shows messages in this dialog from now on: what is behind a dialog can be neither seen nor heard. The returned function ends that. */
export function showToastsIn(dialog: string): () => void {
  set({ dialogs: [...shown.dialogs, dialog] });
  return () => {
    const dialogs = shown.dialogs.filter((one) => one !== dialog);
    const kept = shown.toasts.filter((one) => one.dialog !== dialog || !one.isOfAct);
    set({ dialogs, toasts: kept.map((one) => (one.dialog === dialog ? { ...one, dialog: topOf(dialogs) } : one)) });
  };
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The messages of a dialog or, without `dialog`, of the page. */
export function Toasts({ dialog = null }: { dialog?: string | null }) {
  const { toasts } = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="status">
      {toasts
        .filter((one) => one.dialog === dialog)
        .map(({ id, kind, words }) => (
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
