import { t } from '@svc/chat-ui/language/t.ts';
import type { Outbound } from '@svc/contract/connector-meta.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';

type SendProps = {
  id: string;
  name: string;
  isRunning: boolean;
  outbound: Outbound;
  onClose(): void;
};

/** Sends a message now, or has it held until the channel has restarted. */
export function SendTest({ id, name, isRunning, outbound, onClose }: SendProps) {
  const [target, setTarget] = useState('');
  const [text, setText] = useState(t('A test from the dashboard.'));
  // A channel that is not running can get the message when it is back.
  const [isHeld, setHeld] = useState(!isRunning);
  const act = useAct({
    changes: ['/manager/instances'],
    done: isHeld ? t('It is held until the channel has restarted.') : t('{name} has sent it.', { name }),
    onDone: onClose,
  });
  return (
    <Dialog title={t('Send a test over {name}', { name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { instance_id: id, text, ...(target.trim() !== '' && { target: target.trim() }) };
          act.mutate({ method: 'POST', path: isHeld ? '/manager/announce' : '/manager/send', body });
        }}
      >
        <Field label={outbound.target.label}>
          {(props) => (
            <input {...props} value={target} autoComplete="off" onChange={({ target: input }) => setTarget(input.value)} />
          )}
        </Field>
        <Field label={t('Text')}>
          {(props) => <textarea {...props} rows={2} value={text} onChange={({ target: input }) => setText(input.value)} />}
        </Field>
        <label className="check">
          <input type="checkbox" checked={isHeld} disabled={!isRunning} onChange={({ target: box }) => setHeld(box.checked)} />{' '}
          {t('after its next start, not now')}
        </label>
        <p className="row-buttons">
          <button
            type="submit"
            className="primary"
            disabled={act.isPending || text.trim() === '' || (outbound.target.required && target.trim() === '')}
          >
            {t('Send it')}
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
