import { t } from '@svc/chat-ui/language/t.ts';
import { type ListedDevice, maxDeviceName } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { useAct } from '../../parts/query.ts';

type Props = { device: ListedDevice; path: string; onClose(): void };
type Changed = InstanceCallAnswer & { result: ListedDevice };

/** What a device is called, and what it may be used for. */
export function ChangeDevice({ device, path, onClose }: Props) {
  const { device_id: id, can } = device;
  const [name, setName] = useState(device.name);
  const [allowed, setAllowed] = useState(device.allowed);
  const changes = [`${path}/call`];
  const rename = useAct({ changes, done: t('It is saved.'), onDone: onClose });
  const allow = useAct<Changed>({ changes });
  const body = (method: string, params: object) => ({ method, params: { device_id: id, ...params } });
  /** Shown at once, and reset when the change is refused. */
  const flip = (use: string, isAllowed: boolean) => {
    setAllowed(isAllowed ? [...allowed, use] : allowed.filter((one) => one !== use));
    const request = body(isAllowed ? 'allow' : 'deny', { capability: use });
    allow.mutate(
      { method: 'POST', path: `${path}/call`, body: request },
      { onSuccess: ({ result }) => setAllowed(result.allowed), onError: () => setAllowed(allowed) },
    );
  };
  const uses = [...new Set([...can, ...allowed])].toSorted();
  return (
    <Dialog title={t('Change {name}', { name: device.name })} onClose={onClose}>
      <div className="stack">
        <fieldset className="checks">
          <legend>{t('What it may be used for')}</legend>
          {uses.length === 0 && <p className="muted">{t('It has not reported what it can do.')}</p>}
          {uses.map((use) => (
            <label key={use} className="check">
              <input
                type="checkbox"
                checked={allowed.includes(use)}
                disabled={allow.isPending}
                onChange={({ target }) => flip(use, target.checked)}
              />
              {use}
            </label>
          ))}
        </fieldset>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            rename.mutate({ method: 'POST', path: `${path}/call`, body: body('rename', { name: name.trim() }) });
          }}
        >
          <Field label={t('Name of the device')}>
            {(props) => (
              <input {...props} value={name} maxLength={maxDeviceName} onChange={({ target }) => setName(target.value)} />
            )}
          </Field>
          <FormButtons submit={t('Save name')} isOff={rename.isPending || name.trim() === ''} onClose={onClose} />
        </form>
      </div>
    </Dialog>
  );
}
