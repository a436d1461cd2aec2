import { openLiveStream } from '@svc/chat-ui/stream/live-stream.ts';
import type { Device } from '../device.ts';
import type { Gateway } from '../gateway.ts';
import { catalogue } from './catalogue.ts';
import { createGatewayClock } from './gateway-clock.ts';
import { readRefused } from './refused.ts';

type DeviceCall = { rpc_id: string; method: string; params?: Record<string, unknown>; expires_at: number };
type Options = { device: Device; gateway: Gateway; onSpeak(text: string): void };

/**
 * The device's control link: describes what this browser can do, and runs the requested calls. Only one tab of a browser holds
 * it, so that a call runs once. Capabilities that the user turned off are neither described nor run, nor is a call that arrives after its
 * time, as when the device was asleep: whoever made it has been told that the device did not answer.
 */
export function answerCalls({ device, gateway, onSpeak }: Options): { close(): void; describe(): Promise<void> } {
  const end = new AbortController();
  const clock = createGatewayClock();

  const describe = async () => {
    const refused = await readRefused();
    const offered = catalogue.filter(({ name, isThere }) => isThere() && !refused.includes(name));
    const capabilities = offered.map(({ name, description, input, policy, dangerous }) => ({
      name,
      description,
      input,
      policy,
      dangerous,
    }));
    await gateway.describe({ capabilities });
  };

  async function run({ method, params = {}, expires_at }: DeviceCall): Promise<unknown> {
    if (clock.isOver(expires_at)) throw new Error('The call arrived too late.');
    const capability = catalogue.find(({ name }) => name === method);
    if (capability === undefined || !capability.isThere()) throw new Error('This device cannot do that.');
    if ((await readRefused()).includes(method)) throw new Error('The user has turned this off on this device.');
    return await capability.run(params);
  }

  async function answer(call: DeviceCall): Promise<void> {
    const { rpc_id } = call;
    try {
      const result = await run(call);
      await gateway.rpcResult({ rpc_id, ok: true, result });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // The call may have timed out, or the gateway is unreachable: nobody waits for the result then.
      await gateway.rpcResult({ rpc_id, ok: false, error: reason }).catch(() => undefined);
    }
  }

  const lead = () =>
    new Promise<void>((resolve) => {
      const stream = openLiveStream({
        url: '/gw/control',
        headers: () => gateway.headers,
        onState: () => undefined,
        onEvent(type, data) {
          if (type === 'ready') {
            clock.set((data as { server_time: number }).server_time);
            void describe().catch(() => undefined); // said again with the next connection
          }
          if (type === 'device_rpc') void answer(data as DeviceCall);
          if (type === 'speak') onSpeak((data as { text: string }).text);
        },
      });
      end.signal.addEventListener('abort', () => {
        stream.close();
        resolve();
      });
    });
  // Rejects when this tab ends while it still waits for the lock.
  navigator.locks.request(`svc-control-${device.id}`, { signal: end.signal }, lead).catch(() => undefined);

  return { describe, close: () => end.abort() };
}
