import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import { type Invitation, maxDeviceName } from '@svc/contract/device-gateway.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { refresh } from '../../parts/query.ts';
import { toastFault } from '../../parts/toast.tsx';
import { DeviceLink } from './device-link.tsx';
import { inviteAgain, inviteDevice } from './device-calls.ts';

type Props = { instance: Pick<Instance, 'type'>; path: string; people: readonly Principal[]; onClose(): void };

/** Lets a person’s device in, by a link that is opened or scanned on it. */
export function AddDevice({ instance, path, people, onClose }: Props) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(people.find(({ key }) => key === 'owner')?.id ?? people[0]?.id ?? '');
  const [isBusy, setBusy] = useState(false);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const person = people.find(({ id }) => id === chosen);
  /** The list must be read again: the device may have connected meanwhile. */
  const close = () => {
    void refresh(client, [`${path}/call`]);
    onClose();
  };

  const run = async (making: Promise<Invitation>) => {
    setBusy(true);
    try {
      setInvitation(await making);
    } catch (error) {
      toastFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
      await refresh(client, [`${path}/call`, '/core/trust/']);
    }
  };

  return (
    <Dialog title={t('Add a device')} onClose={close}>
      {invitation === null || person === undefined ? (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (person !== undefined) void run(inviteDevice({ path, surface: instance.type, name: name.trim(), person }));
          }}
        >
          <Field label={t('Name of the device')} hint={t('For example Phone. The list shows this name.')}>
            {(props) => (
              <input
                {...props}
                value={name}
                maxLength={maxDeviceName}
                autoComplete="off"
                onChange={({ target }) => setName(target.value)}
              />
            )}
          </Field>
          <Field label={t('Owner')} hint={t('Anyone who has it writes as this person, with their rights.')}>
            {(props) => (
              <select {...props} value={chosen} onChange={({ target }) => setChosen(target.value)}>
                {people.map(({ id, display_name: known, key }) => (
                  <option key={id} value={id}>
                    {known === key ? known : `${known} (${key})`}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <FormButtons
            submit={isBusy ? t('Making the link') : t('Make link')}
            isOff={isBusy || name.trim() === '' || person === undefined}
            onClose={onClose}
          />
        </form>
      ) : (
        <div className="stack">
          <p>
            <Rich
              text="Open the link on {device}, or scan it there. It works once, within ten minutes, and lets the device in as {person}."
              device={<b>{name.trim()}</b>}
              person={<b>{person.display_name}</b>}
            />
          </p>
          <DeviceLink
            key={invitation.code}
            invitation={invitation}
            path={path}
            isBusy={isBusy}
            onAgain={() => void run(inviteAgain(path, invitation.device_id))}
          />
          <p className="row-buttons">
            <button type="button" className="plain-button" onClick={close}>
              {t('Done')}
            </button>
          </p>
        </div>
      )}
    </Dialog>
  );
}
