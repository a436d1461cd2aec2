import type { Invitation, ListedDevice } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { call } from '../../parts/api.ts';

/** The request for the devices that a gateway has let in or invited, and its answer. */
export const askDevices = { method: 'devices', params: {} } as const;
export type Devices = InstanceCallAnswer & { result: { devices: ListedDevice[] } };

type Request = { path: string; surface: string; name: string; person: Pick<Principal, 'id'> };

/** Makes a link for a device of a person. If a step fails, the others are undone. */
export async function inviteDevice({ path, surface, name, person }: Request): Promise<Invitation> {
  const invitation = await ask(path, 'invite', { name });
  const { device_id, identity: value } = invitation;
  try {
    await call('POST', `/core/trust/principals/${encodeURIComponent(person.id)}/identifiers`, { body: { surface, value } });
  } catch (error) {
    await ask(path, 'revoke', { device_id });
    throw error;
  }
  return invitation;
}

/** Another link for a device that has not connected yet. */
export const inviteAgain = (path: string, deviceId: string): Promise<Invitation> => ask(path, 'invite', { device_id: deviceId });

async function ask(path: string, method: string, params: object): Promise<Invitation> {
  const { result } = await call<InstanceCallAnswer>('POST', `${path}/call`, { body: { method, params } });
  return result as Invitation;
}
