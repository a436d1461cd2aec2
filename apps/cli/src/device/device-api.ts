import type { Invitation, ListedDevice } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { CliError } from '../cli-error.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import { pickInstance } from '../connector/pick-instance.ts';
import { askManager } from '../service-client.ts';

/** Types of connectors that are device gateways. */
const gatewayTypes: readonly string[] = ['device', 'mobile'];

/** A device gateway, as `svc device` uses it. Rejects with a `CliError` that has the gateway's own message. */
export type DeviceApi = {
  readonly instance: Instance;
  list(): Promise<ListedDevice[]>;
  invite(name: string): Promise<Invitation>;
  /** A new link for a device that has not connected; the previous one expires. */
  inviteAgain(deviceId: string): Promise<Invitation>;
  rename(deviceId: string, name: string): Promise<ListedDevice>;
  revoke(deviceId: string): Promise<ListedDevice>;
  allow(deviceId: string, capability: string): Promise<ListedDevice>;
  deny(deviceId: string, capability: string): Promise<ListedDevice>;
};

/** The named gateway, else all of them. @throws CliError when there is none */
export async function findGateways(settings: CliSettings, name: string | undefined): Promise<DeviceApi[]> {
  const instances = (await createConnectorApi(settings).list()).filter(({ type }) => gatewayTypes.includes(type));
  if (instances.length === 0) throw new CliError('there is no device gateway.', { run: './svc connector add device' });
  const meant = name === undefined ? instances : [pickInstance(instances, name)];
  return meant.map((instance) => createDeviceApi(settings, instance));
}

/** The gateway for a new device. @throws CliError when there are several */
export function onlyGateway(gateways: readonly DeviceApi[]): DeviceApi {
  const [only, ...more] = gateways;
  if (only !== undefined && more.length === 0) return only;
  const ids = gateways.map(({ instance }) => instance.id).join(', ');
  throw new CliError('there are several device gateways.', { why: `Choose one with --connector: ${ids}.` });
}

function createDeviceApi(settings: CliSettings, instance: Instance): DeviceApi {
  const call = async <Result>(method: string, params: object = {}): Promise<Result> => {
    const where = `/instances/${encodeURIComponent(instance.id)}/call`;
    const answer = await askManager<InstanceCallAnswer>(settings, where, { method, params });
    if (answer.ok) return answer.body.result as Result;
    throw new CliError(`${instance.id} could not do this.`, {
      why: answer.body.message,
      run: answer.body.error === 'conflict' ? './svc device' : './svc connector',
    });
  };
  return {
    instance,
    list: async () => (await call<{ devices: ListedDevice[] }>('devices')).devices,
    invite: (name) => call('invite', { name }),
    inviteAgain: (device_id) => call('invite', { device_id }),
    rename: (device_id, name) => call('rename', { device_id, name }),
    revoke: (device_id) => call('revoke', { device_id }),
    allow: (device_id, capability) => call('allow', { device_id, capability }),
    deny: (device_id, capability) => call('deny', { device_id, capability }),
  };
}
