import { badRequest, forbidden, notFound, type Exchange, type Route } from '@svc/connector-kit';
import {
  maxRpcMs,
  maxRpcParams,
  rpcResultSchema,
  rpcSchema,
  type ActuableDevice,
  type RpcRequest,
  type RpcResult,
} from '@svc/contract/device-actions.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { devicesSeenBy } from '../device/devices-seen-by.ts';
import type { Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { Capabilities } from './capabilities.ts';
import type { DeviceCalls } from './device-calls.ts';

/** `POST /gw/rpc`, `POST /gw/rpc-result` and `GET /gw/devices`: a person's devices call each other. */
export function createRpcRoutes(gateway: Gateway, capabilities: Capabilities, calls: DeviceCalls): Route[] {
  const { authenticate, readBody, links } = gateway;

  async function rpc(exchange: Exchange): Promise<void> {
    const asker = authenticate(exchange);
    const {
      device_id: id,
      method,
      params = {},
      timeout_ms: timeoutMs = maxRpcMs,
      wait = true,
    } = await readBody<RpcRequest>(exchange, rpcSchema);
    if (JSON.stringify(params).length > maxRpcParams)
      throw badRequest(`params is longer than ${maxRpcParams} characters of JSON.`);
    const { devices, identity } = await devicesSeenBy(gateway, asker);
    const device = devices.find(({ device_id: each }) => each === id);
    // Another person's device is reported as not found.
    if (device === undefined) throw notFound('device', id);
    const wanted = capabilities.of(id).find(({ name }) => name === method);
    if (identity.tool_policy === 'none' || (wanted?.policy === 'full' && identity.tool_policy !== 'full'))
      throw forbidden(`Your tool policy does not allow ${method}.`);
    const { rpcId, result } = calls.begin({
      device,
      method,
      params: params as Record<string, unknown>,
      timeoutMs,
      by: asker.device_id,
    });
    if (!wait) return reply(exchange, { ok: true, rpc_id: rpcId }, 202);
    reply(exchange, { ok: true, rpc_id: rpcId, result: await result });
  }

  async function result(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    calls.end(device.device_id, await readBody<RpcResult>(exchange, rpcResultSchema));
    reply(exchange, { ok: true });
  }

  const toActuable = (device: DeviceRecord): ActuableDevice => ({
    device_id: device.device_id,
    name: device.name,
    reachable: links.has(device.device_id, 'control'),
    capabilities: capabilities.of(device.device_id).map((each) => ({ ...each, allowed: device.allowed.includes(each.name) })),
  });

  return [
    {
      method: 'POST',
      path: '/gw/rpc',
      doc: { summary: 'Runs a capability of a device', needsKey: true, body: rpcSchema },
      handle: rpc,
    },
    {
      method: 'POST',
      path: '/gw/rpc-result',
      doc: { summary: 'Reports the result of a call', needsKey: true, body: rpcResultSchema },
      handle: result,
    },
    {
      method: 'GET',
      path: '/gw/devices',
      doc: { summary: 'What the devices of this person can do', needsKey: true },
      async handle(exchange) {
        const { devices } = await devicesSeenBy(gateway, authenticate(exchange));
        reply(exchange, { ok: true, devices: devices.map(toActuable).filter((device) => device.capabilities.length > 0) });
      },
    },
  ];
}
