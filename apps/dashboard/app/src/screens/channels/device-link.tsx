import { t } from '@svc/chat-ui/language/t.ts';
import type { Invitation, ListedDevice } from '@svc/contract/device-gateway.ts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../parts/api.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { relativeTime } from '../../parts/format.ts';
import { QrCode } from '../../parts/qr-code.tsx';
import { Status } from '../../parts/status.tsx';
import { askDevices, type Devices } from './device-calls.ts';

type Props = { invitation: Invitation; path: string; isBusy: boolean; onAgain(): void };
type Arrival = 'waiting' | 'in' | 'too late' | 'unknown';

const lookMs = 2000;

/** The link by which a device connects, until it has connected or the link has expired. */
export function DeviceLink({ invitation, path, isBusy, onAgain }: Props) {
  const { url, expires_at: end } = invitation;
  const arrival = useArrival(invitation, path);
  if (arrival === 'in') return <Status kind="ok" words={t('The device is connected.')} />;
  if (arrival === 'too late')
    return (
      <>
        <p role="status">{t('The device has not connected, and the link has expired.')}</p>
        <p>
          <button type="button" className="primary" disabled={isBusy} onClick={onAgain}>
            {t('Make another link')}
          </button>
        </p>
      </>
    );
  return (
    <>
      <QrCode text={url} label={t('QR code of the link')} />
      <p className="path">{url}</p>
      <p className="row-buttons">
        <CopyButton text={url}>{t('Copy link')}</CopyButton>
      </p>
      {isHere(url) && (
        <p className="small">
          {t(
            'This address works only on the service’s own machine. For other devices, put a proxy with https before the gateway, and set its address as base_url under Configure.',
          )}
        </p>
      )}
      {arrival === 'waiting' ? (
        <Status kind="busy" words={t('Waiting for the device; the link expires {when}.', { when: relativeTime(end) })} />
      ) : (
        <p className="muted small">{t('The list of devices shows whether it has connected.')}</p>
      )}
    </>
  );
}

/** Polls while the second factor is recent enough, and never asks for another one. */
function useArrival({ device_id: id, code, expires_at: end }: Invitation, path: string): Arrival {
  const query = useQuery<Devices>({
    queryKey: [`${path}/call`, code],
    queryFn: ({ signal }) => call<Devices>('POST', `${path}/call`, { body: askDevices, signal, isQuiet: true }),
    retry: false,
    refetchInterval: ({ state: { data, error } }) => (stateOf(data, id) === 'paired' || error !== null ? false : lookMs),
  });
  if (stateOf(query.data, id) === 'paired') return 'in';
  if (Date.now() >= end) return 'too late';
  return query.error === null ? 'waiting' : 'unknown';
}

const stateOf = (listed: Devices | undefined, id: string): ListedDevice['state'] | undefined =>
  listed?.result.devices.find(({ device_id: other }) => other === id)?.state;

const isHere = (url: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
