import { forbidden, type Exchange, type Route } from '@svc/connector-kit';
import { describeSchema, type DescribeRequest } from '@svc/contract/device-gateway.ts';
import type { Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { Capabilities } from '../rpc/capabilities.ts';
import { deviceName } from './device-name.ts';
import type { RemoveDevice } from './remove-device.ts';

type Deps = { remove: RemoveDevice; capabilities: Pick<Capabilities, 'describe'> };

/** `PATCH /gw/device` and `DELETE /gw/device`: a device describes itself, or unpairs itself. */
export function createDeviceRoutes(gateway: Gateway, { remove, capabilities }: Deps): Route[] {
  const { authenticate, devices, readBody } = gateway;

  async function describe(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const { name: said, capabilities: described } = await readBody<DescribeRequest>(exchange, describeSchema);
    const name = said === undefined ? undefined : deviceName(said);
    if (described !== undefined) {
      if (device.token_sha256 === null) throw forbidden('Capabilities can be stored only for paired devices.');
      await capabilities.describe(device.device_id, described);
    }
    const now = name === undefined || name === device.name ? device : devices.rename(device.device_id, name);
    reply(exchange, { ok: true, device: { id: now.device_id, name: now.name } });
  }

  async function leave(exchange: Exchange): Promise<void> {
    const { device_id: id } = authenticate(exchange);
    await remove(id);
    reply(exchange, { ok: true });
  }

  return [
    {
      method: 'PATCH',
      path: '/gw/device',
      doc: { summary: 'Stores the name and the capabilities of the device', needsKey: true, body: describeSchema },
      handle: describe,
    },
    { method: 'DELETE', path: '/gw/device', doc: { summary: 'Signs the device out', needsKey: true }, handle: leave },
  ];
}
