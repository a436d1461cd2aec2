import { t } from '@svc/chat-ui/language/t.ts';
import { useRouter } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { showToastsIn, Toasts } from './toast.tsx';
import { useTyped } from './use-typed.ts';

type Props = { title: string; onClose(): void; children: ReactNode; wide?: boolean };

/** Elements that may get the focus first in a dialog, after its heading. */
const first = 'input, select, textarea, button, a[href], summary';
const isField = (element: Element | undefined): element is HTMLElement => element?.matches('input, select, textarea') === true;

/**
 * A dialog of the browser, which traps and restores the focus, and closes by Escape. A form in it has the focus in its first field. Typed text
 * is not discarded without a question: by Escape, the close button, or going back. While it is being saved, these do nothing. Cancel needs no
 * question.
 */
export function Dialog({ title, onClose, children, wide = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const typed = useTyped(dialog);
  /** What is done when the answer is to discard. */
  const [asked, setAsked] = useState<{ leave(): void } | null>(null);
  const close = () => {
    if (!typed.has()) onClose();
    else if (!typed.isUnderWay()) setAsked({ leave: onClose });
  };
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    const begin = [...(element?.querySelectorAll(first) ?? [])].find((one) => one.closest('.dialog > header') === null);
    if (isField(begin)) begin.focus();
    const end = showToastsIn(id);
    return () => {
      end();
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [id]);
  useBack(typed.has, (goOn) => {
    if (typed.isUnderWay()) return;
    setAsked({
      leave() {
        onClose();
        goOn();
      },
    });
  });
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      {...typed.handlers}
      onCancel={(event) => {
        // The browser's own list of files says the same to its field when nothing is chosen.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        close();
      }}
      // A second Escape is not asked about: the browser closes it.
      onClose={({ currentTarget }) => {
        if (currentTarget.open) return;
        if (typed.has()) currentTarget.showModal();
        close();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon" aria-label={t('Close')} onClick={close}>
          <X aria-hidden size={20} />
        </button>
      </header>
      {children}
      <Toasts dialog={id} />
      {asked !== null && (
        <Confirm
          title={t('Discard what you typed?')}
          button={t('Discard')}
          back={t('Keep typing')}
          isBusy={false}
          onConfirm={asked.leave}
          onClose={() => setAsked(null)}
        >
          <p>{t('It is not saved yet.')}</p>
        </Confirm>
      )}
    </dialog>
  );
}

/** Asks before going back in the browser's history discards what was typed; `goOn` goes back. */
function useBack(isTyped: () => boolean, ask: (goOn: () => void) => void): void {
  // A dialog over all screens has none.
  const history = useRouter({ warn: false })?.history;
  const current = useRef(ask);
  current.current = ask;
  useEffect(
    () =>
      history?.block({
        enableBeforeUnload: isTyped,
        blockerFn({ action, nextLocation: { href } }) {
          if (action === 'PUSH' || action === 'REPLACE' || !isTyped()) return false;
          current.current(() => {
            if (action === 'GO') history.push(href);
            else history[action === 'BACK' ? 'back' : 'forward']({ ignoreBlocker: true });
          });
          return true;
        },
      }),
    [history, isTyped],
  );
}

type ConfirmProps = {
  title: string;
  /** What will be lost, or will start. */
  children: ReactNode;
  /** Verb and thing. */
  button: string;
  /** The button that cancels. */
  back?: string;
  isBusy: boolean;
  onConfirm(): void;
  onClose(): void;
};

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, button, back = t('Cancel'), isBusy, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-words">{children}</div>
      <p className="row-buttons">
        <button type="button" className="danger" disabled={isBusy} onClick={onConfirm}>
          {button}
        </button>
        <button type="button" className="plain-button" onClick={onClose}>
          {back}
        </button>
      </p>
    </Dialog>
  );
}
