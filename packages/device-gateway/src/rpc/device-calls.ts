import { randomUUID } from 'node:crypto';
import { forbidden, notFound, ServiceError, type StartContext } from '@svc/connector-kit';
import type { DeviceRpcFrame, RpcResult } from '@svc/contract/device-actions.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { conflict, queueFull } from '@svc/service-kit/service-error.ts';
import type { OpenLinks } from '../stream/open-links.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Capabilities } from './capabilities.ts';

/** A call to a device. `by` names who wants it, for the audit. */
export type DeviceCall = { device: DeviceRecord; method: string; params: Record<string, unknown>; timeoutMs: number; by: string };

/** Calls to devices: each is sent once, and gets one result in time. */
export type DeviceCalls = {
  /**
   * Sends the call. `result` rejects with a `ServiceError`: the device's error, or a timeout.
   * @throws ServiceError `forbidden` when the device cannot do it or the owner has not allowed it, `unavailable` when the device is not
   * connected
   */
  begin(call: DeviceCall): { rpcId: string; result: Promise<unknown> };
  /**
   * Accepts the result of a call. @throws ServiceError `not_found`, `forbidden` for a call of another device, `conflict` when the call is
   * over
   */
  end(deviceId: string, result: RpcResult): void;
  /** The device was removed. */
  forget(deviceId: string): Promise<void>;
};

type Deps = {
  links: Pick<OpenLinks, 'has' | 'send'>;
  capabilities: Pick<Capabilities, 'of'>;
  clock: Clock;
  emit: StartContext['emit'];
};
type Open = { deviceId: string; settle(outcome: string, fault: ServiceError | null, value?: unknown): void };

const maxOpen = 16;
/** Number of ended calls whose ids are kept, to distinguish a late result from an unknown one. */
const maxOver = 1_000;

export function createDeviceCalls({ links, capabilities, clock, emit }: Deps): DeviceCalls {
  const open = new Map<string, Open>();
  const over = new Map<string, string>();

  function close(rpcId: string, deviceId: string): void {
    open.delete(rpcId);
    over.set(rpcId, deviceId);
    forgetOldest(over, maxOver);
  }

  function checkMay({ device, method }: DeviceCall): void {
    if (!capabilities.of(device.device_id).some(({ name }) => name === method))
      throw forbidden(`"${device.name}" does not offer ${method}.`);
    if (!device.allowed.includes(method))
      throw forbidden(`The owner has not allowed ${method} on "${device.name}": ./svc device allow NAME ${method}`);
    if (!links.has(device.device_id, 'control'))
      throw new ServiceError('unavailable', `"${device.name}" cannot be reached: its app is not open.`);
    if ([...open.values()].filter(({ deviceId }) => deviceId === device.device_id).length >= maxOpen)
      throw queueFull(`"${device.name}" already has ${maxOpen} open requests. Try again in a moment.`);
  }

  return {
    begin(call) {
      checkMay(call);
      const { device, method, params, timeoutMs, by } = call;
      const rpcId = `rpc_${randomUUID()}`;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      promise.catch(() => undefined); // ignored when nobody waits for it
      const settle: Open['settle'] = (outcome, fault, value) => {
        cancel();
        close(rpcId, device.device_id);
        emit({
          kind: 'device',
          identity: device.identity,
          text: `${method} on ${device.name}: ${outcome}`,
          payload: { rpc_id: rpcId, device_id: device.device_id, method, by, outcome },
        });
        if (fault === null) resolve(value);
        else reject(fault);
      };
      const cancel = clock.after(timeoutMs, () =>
        settle(
          'no answer',
          new ServiceError('upstream', `"${device.name}" did not answer within ${timeoutMs / 1000} s.`, { status: 504 }),
        ),
      );
      open.set(rpcId, { deviceId: device.device_id, settle });
      const frame: DeviceRpcFrame = { type: 'device_rpc', rpc_id: rpcId, method, params, expires_at: clock.now() + timeoutMs };
      links.send(device.device_id, frame, 'control');
      return { rpcId, result: promise };
    },
    end(deviceId, { rpc_id, ok, result, error = 'it gave no reason' }) {
      const call = open.get(rpc_id);
      const owner = call?.deviceId ?? over.get(rpc_id);
      if (owner === undefined) throw notFound('call', rpc_id);
      if (owner !== deviceId) throw forbidden('This call was sent to another device.');
      if (call === undefined) throw conflict('This call has ended: it was answered or has timed out.');
      if (ok) call.settle('done', null, result ?? null);
      else call.settle('failed', new ServiceError('unprocessable', `The device reported an error: ${error}`));
    },
    async forget(deviceId) {
      for (const call of open.values())
        if (call.deviceId === deviceId) call.settle('revoked', new ServiceError('unavailable', 'The device was signed out.'));
    },
  };
}
