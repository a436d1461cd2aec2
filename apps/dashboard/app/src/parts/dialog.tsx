import { t } from '@svc/chat-ui/language/t.ts';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { showToastsIn, Toasts } from './toast.tsx';

type Props = { title: string; onClose(): void; children: ReactNode; wide?: boolean };

/** What may be the first control behind the heading of a dialog. */
const first = 'input, select, textarea, button, a[href], summary';
const isField = (element: Element | undefined): element is HTMLElement => element?.matches('input, select, textarea') === true;

/** A dialog of the browser, which keeps the focus in, gives it back, and closes by Escape. A form in it has the focus in its first field. */
export function Dialog({ title, onClose, children, wide = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
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
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A second Escape is not asked about: the browser closes it.
      onClose={({ currentTarget }) => !currentTarget.open && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon" aria-label={t('Close')} onClick={onClose}>
          <X aria-hidden size={20} />
        </button>
      </header>
      {children}
      <Toasts dialog={id} />
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  /** What is lost, or begins. */
  children: ReactNode;
  /** Verb and thing. */
  button: string;
  isBusy: boolean;
  onConfirm(): void;
  onClose(): void;
};

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, button, isBusy, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-words">{children}</div>
      <p className="row-buttons">
        <button type="button" className="danger" disabled={isBusy} onClick={onConfirm}>
          {button}
        </button>
        <button type="button" className="plain-button" onClick={onClose}>
          {t('Cancel')}
        </button>
      </p>
    </Dialog>
  );
}
