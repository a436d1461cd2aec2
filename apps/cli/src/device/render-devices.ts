import type { Invitation, ListedDevice } from '@svc/contract/device-gateway.ts';
import { duration } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';

/** `now` is epoch ms. */
export function renderDevices(devices: readonly ListedDevice[], now: number, style: Style): string {
  if (devices.length === 0) return 'No device has access yet. Let one in:  ./svc device add NAME';
  return devices.map((device) => lineOf(device, now, style)).join('\n');
}

function lineOf(
  { name, device_id: id, platform, state, online, last_seen_at: seenAt, allowed, can }: ListedDevice,
  now: number,
  style: Style,
): string {
  const about = [visibleLine(id), ...(platform === null ? [] : [visibleLine(platform)])].join(', ');
  const head = `${online ? style.green('●') : '○'} ${visibleLine(name)}  ${style.dim(about)}  ${stateOf({ state, online, seenAt }, now)}`;
  const rest = can.filter((name) => !allowed.includes(name));
  return [
    head,
    ...(allowed.length === 0 ? [] : [style.dim(`    may be used for ${allowed.map(visibleLine).join(', ')}`)]),
    ...(rest.length === 0 ? [] : [style.dim(`    could do ${rest.map(visibleLine).join(', ')}: ./svc device allow`)]),
  ].join('\n');
}

type State = Pick<ListedDevice, 'state' | 'online'> & { seenAt: number | null };

function stateOf({ state, online, seenAt }: State, now: number): string {
  if (online) return 'is here';
  if (state === 'invited') return 'not connected yet';
  return seenAt === null ? 'not seen' : `seen ${duration(Math.max(0, now - seenAt))} ago`;
}

/** The link, and the same as a QR code. `code` is empty when the terminal is too narrow for it. */
export function renderInvitation({ url, expires_at }: Invitation, qr: string | null, now: number, style: Style): string {
  return [
    ...(qr === null ? [] : [qr]),
    `Open this on the device, or scan it:  ${style.bold(url)}`,
    style.dim(`Works once, for ${duration(Math.ceil((expires_at - now) / 60_000) * 60_000)}.`),
    ...(isHere(url) ? [style.dim('This address works only on this machine. For others: docs/devices.md')] : []),
  ].join('\n');
}

const isHere = (url: string): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
