import { type ReactNode, useState } from 'react';
import { Confirm } from './dialog.tsx';
import { type Change, useAct } from './query.ts';

type Look = 'plain-button' | 'danger';
type Props = { label: string; look?: Look; children(close: () => void): ReactNode };

/** A button, and the dialog that it opens. */
export function DialogButton({ label, look = 'plain-button', children }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={look} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

type Act = {
  /** The question. */
  title: string;
  /** The button that confirms: verb and thing. */
  button: string;
  change: Change;
  /** The paths that are read again afterwards. */
  changes?: readonly string[];
  done: string;
  /** What will be lost, or will start. */
  children: ReactNode;
};

/** A button that asks for confirmation before it acts. */
export const ConfirmButton = ({ label, look, ...act }: Act & { label?: string; look?: Look }) => (
  <DialogButton label={label ?? act.button} {...(look !== undefined && { look })}>
    {(close) => <ConfirmAct {...act} onClose={close} />}
  </DialogButton>
);

function ConfirmAct({ title, button, change, changes = [], done, children, onClose }: Act & { onClose(): void }) {
  const act = useAct({ changes, done, onDone: onClose });
  return (
    <Confirm title={title} button={button} isBusy={act.isPending} onClose={onClose} onConfirm={() => act.mutate(change)}>
      {children}
    </Confirm>
  );
}
