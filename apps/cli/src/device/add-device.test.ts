import type { ListedDevice } from '@svc/contract/device-gateway.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Identifier, Principal } from '@svc/contract/trust.ts';
import { expect, test } from 'vitest';
import { inviteDevice } from './add-device.ts';
import type { DeviceApi } from './device-api.ts';

const ann = { identifiers: [{ surface: 'device', value: 'd_ann' }] } as Principal;

/** A gateway with one device, which records its calls. */
function openWith(device: Pick<ListedDevice, 'name' | 'identity' | 'state'>) {
  const asked: string[] = [];
  const note = async <Result>(what: string, result: object): Promise<Result> => {
    asked.push(what);
    return result as Result;
  };
  const gateway = {
    instance: { type: 'device' } as Instance,
    list: async () => [{ device_id: device.identity, ...device } as ListedDevice],
    invite: (name: string) => note('invite ' + name, { device_id: 'd_new', identity: 'd_new' }),
    inviteAgain: (id: string) => note('invite again ' + id, { device_id: id }),
  } as DeviceApi;
  const trust = {
    principal: async () => ann,
    link: (key: string, surface: string, value: string) => note<Identifier>(`link ${key} ${surface} ${value}`, {}),
  };
  return { asked, add: () => inviteDevice({ gateway, trust }, { name: 'Phone', as: 'ann' }) };
}

test('a device that has not used its first link gets another one', async () => {
  const { asked, add } = openWith({ name: 'Phone', identity: 'd_ann', state: 'invited' });
  await add();
  expect(asked).toEqual(['invite again d_ann']);
});

test.each([
  ['is there', { name: 'Phone', identity: 'd_ann', state: 'paired' }],
  ['is another person’s', { name: 'Phone', identity: 'd_bob', state: 'invited' }],
  ['has another name', { name: 'Tablet', identity: 'd_ann', state: 'invited' }],
] as const)('a new device is invited when an existing one %s', async (_what, device) => {
  const { asked, add } = openWith(device);
  await add();
  expect(asked).toEqual(['invite Phone', 'link ann device d_new']);
});
