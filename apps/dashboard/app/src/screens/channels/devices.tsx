import { t } from '@svc/chat-ui/language/t.ts';
import type { ListedDevice } from '@svc/contract/device-gateway.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { relativeTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useProvenCall } from '../../parts/query.ts';
import { useAllPeople } from '../../parts/use-people.ts';
import { Status } from '../../parts/status.tsx';
import { AddDevice } from './add-device.tsx';
import { ChangeDevice } from './change-device.tsx';
import { askDevices, type Devices as ListOfDevices } from './device-calls.ts';

type Props = { instance: Instance; path: string; onClose(): void };

/** Types of connectors that phones and other devices connect through. */
const gatewayTypes: readonly string[] = ['device', 'mobile'];
export const letsDevicesIn = ({ type }: Instance): boolean => gatewayTypes.includes(type);

/** The devices that a gateway has let in, with signing out a lost one. */
export function Devices({ instance, path, onClose }: Props) {
  const query = useProvenCall<ListOfDevices>(`${path}/call`, askDevices);
  const people = useAllPeople();
  const [lost, setLost] = useState<ListedDevice | null>(null);
  const [changed, setChanged] = useState<ListedDevice | null>(null);
  const [isAdding, setAdding] = useState(false);
  const ownerOf = ({ identity }: ListedDevice) =>
    people.data?.principals.find(({ identifiers }) =>
      identifiers.some(({ surface, value }) => surface === instance.type && value === identity),
    );
  if (lost !== null)
    return <SignOut device={lost} type={instance.type} path={path} person={ownerOf(lost)} onClose={() => setLost(null)} />;
  if (isAdding)
    return <AddDevice instance={instance} path={path} people={people.data?.principals ?? []} onClose={() => setAdding(false)} />;
  if (changed !== null) return <ChangeDevice device={changed} path={path} onClose={() => setChanged(null)} />;
  return (
    <Dialog title={t('Devices of {name}', { name: instance.name })} onClose={onClose} wide>
      <div className="stack">
        <p>
          <button type="button" className="primary" disabled={people.data === undefined} onClick={() => setAdding(true)}>
            {t('Add a device')}
          </button>
        </p>
        <Loaded query={query}>
          {({ result: { devices } }) => (
            <ul className="rows-list">
              {devices.length === 0 && <li className="muted">{t('None is paired.')}</li>}
              {devices.map((device) => (
                <li key={device.device_id}>
                  <div className="line-between">
                    <b>{device.name}</b>
                    <Status kind={device.online ? 'ok' : 'off'} words={stateOf(device)} />
                  </div>
                  <p className="muted small">{factsOf(device, ownerOf(device))}</p>
                  <p className="row-buttons">
                    <button
                      type="button"
                      className="plain-button"
                      aria-label={t('Change {name}', { name: device.name })}
                      onClick={() => setChanged(device)}
                    >
                      {t('Change')}
                    </button>
                    <button
                      type="button"
                      className="danger"
                      aria-label={t('Sign out {name}', { name: device.name })}
                      disabled={people.data === undefined}
                      onClick={() => setLost(device)}
                    >
                      {t('Sign out')}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}

type SignOutProps = { device: ListedDevice; type: string; path: string; person: Principal | undefined; onClose(): void };

/** Revokes its token first, then its link to the person. */
function SignOut({ device, type, path, person, onClose }: SignOutProps) {
  const { name, device_id: id, identity } = device;
  const unlink = useAct({ changes: ['/core/trust/'] });
  const own = person?.identifiers.find(({ surface, value }) => surface === type && value === identity);
  const revoke = useAct({
    changes: [`${path}/call`],
    done: t('{name} is signed out.', { name }),
    onDone: () => {
      if (own !== undefined) unlink.mutate({ method: 'DELETE', path: `/core/trust/identifiers/${encodeURIComponent(own.id)}` });
      onClose();
    },
  });
  return (
    <Confirm
      title={t('Sign out {name}?', { name })}
      button={t('Sign out device')}
      isBusy={revoke.isPending}
      onClose={onClose}
      onConfirm={() =>
        revoke.mutate({ method: 'POST', path: `${path}/call`, body: { method: 'revoke', params: { device_id: id } } })
      }
    >
      <p>{t('Its login becomes invalid, and its streams end immediately. To use it again, pair it again.')}</p>
    </Confirm>
  );
}

const stateOf = ({ state, online }: ListedDevice): string => {
  if (state === 'invited') return t('has not connected yet');
  return online ? t('connected') : t('not connected');
};

const factsOf = ({ platform, created_at: began, last_seen_at: seen }: ListedDevice, person: Principal | undefined): string =>
  [
    person === undefined ? t('of nobody') : t('of {name}', { name: person.display_name }),
    platform,
    t('let in {when}', { when: relativeTime(began) }),
    seen === null ? null : t('last seen {when}', { when: relativeTime(seen) }),
  ]
    .filter((part) => part !== null && part !== '')
    .join(' · ');
