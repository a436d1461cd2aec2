import type { Invitation } from '@svc/contract/device-gateway.ts';
import { CliError } from '../cli-error.ts';
import type { TrustApi } from '../trust/trust-api.ts';
import type { DeviceApi } from './device-api.ts';

type Deps = { gateway: DeviceApi; trust: Pick<TrustApi, 'principal' | 'link'> };

/**
 * Makes a link for a person's device. A device of that name which has not connected yet gets a new link instead of the first. Nothing is kept
 * when a step fails.
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

/** Whether the device connected. `left`: the person stopped waiting; the link stays valid. */
export type Arrival = 'paired' | 'expired' | 'left';

/** Resolves when the device has connected, at the latest when its link expires. */
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
