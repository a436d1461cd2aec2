import type { Invitation } from '@svc/contract/device-gateway.ts';
import { CliError } from '../cli-error.ts';
import type { TrustApi } from '../trust/trust-api.ts';
import type { DeviceApi } from './device-api.ts';

type Deps = { gateway: DeviceApi; trust: Pick<TrustApi, 'principal' | 'link'> };

/**
 * Makes a link for a device of a person: another one for a device of theirs that has this name and has not come by its first one. Nothing of a new one is left
 * when it cannot be made whole.
 */
export async function inviteDevice({ gateway, trust }: Deps, { name, as }: { name: string; as: string }): Promise<Invitation> {
  const { identifiers } = await trust.principal(as); // a wrong name is said before anything is made
  const isTheirs = (identity: string) =>
    identifiers.some(({ surface, value }) => surface === gateway.instance.type && value === identity);
  const awaited = (await gateway.list()).find((one) => one.name === name && one.state === 'invited' && isTheirs(one.identity));
  if (awaited !== undefined) return gateway.inviteAgain(awaited.device_id);
  const invitation = await gateway.invite(name);
  try {
    await trust.link(as, gateway.instance.type, invitation.identity);
  } catch (error) {
    await gateway.revoke(invitation.device_id);
    throw error;
  }
  return invitation;
}

type Waiting = {
  gateway: Pick<DeviceApi, 'list'>;
  deviceId: string;
  /** Epoch ms. */
  expiresAt: number;
  now(): number;
  pause(): Promise<void>;
  signal: AbortSignal;
};

/** How the device came, or did not. `left`: nobody waits any more; its link stays good. */
export type Arrival = 'paired' | 'expired' | 'left';

/** Resolves when the device has come, at the latest when its link is no good any more. */
export async function untilPaired({ gateway, deviceId, expiresAt, now, pause, signal }: Waiting): Promise<Arrival> {
  while (!signal.aborted) {
    const device = (await gateway.list()).find(({ device_id: id }) => id === deviceId);
    if (device === undefined) throw new CliError('the device was revoked meanwhile.');
    if (device.state === 'paired') return 'paired';
    if (now() >= expiresAt) return 'expired';
    await pause();
  }
  return 'left';
}
