import { expect, onTestFinished, test, vi } from 'vitest';
import { openLiveStream } from '@svc/chat-ui/stream/live-stream.ts';
import type { Device } from '../device.ts';
import type { Gateway } from '../gateway.ts';
import { answerCalls } from './answer-calls.ts';

vi.mock('@svc/chat-ui/stream/live-stream.ts');
vi.mock('./refused.ts', () => ({ readRefused: () => Promise.resolve([]) }));

/** A device that can vibrate, and its control link. */
function open() {
  vi.useFakeTimers();
  const vibrated: number[] = [];
  const locks = { request: (_name: string, _options: object, hold: () => Promise<void>) => hold() };
  vi.stubGlobal('navigator', { locks, vibrate: (ms: number) => vibrated.push(ms) > 0 });
  let say: (type: string, data: object) => void = () => undefined;
  vi.mocked(openLiveStream).mockImplementation(({ onEvent }) => {
    say = (type, data) => onEvent(type, data, '');
    return { close: () => undefined };
  });
  const results: unknown[] = [];
  const gateway = { describe: async () => undefined, rpcResult: async (result: unknown) => void results.push(result) };
  const { close } = answerCalls({
    device: { id: 'd_1' } as Device,
    gateway: gateway as unknown as Gateway,
    onSpeak: () => undefined,
  });
  onTestFinished(() => {
    close();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  const call = (rpc_id: string, expires_at: number) =>
    say('device_rpc', { rpc_id, method: 'vibrate', params: { ms: 9 }, expires_at });
  return { say: (type: string, data: object) => say(type, data), call, vibrated, results };
}

test('runs a call in its time by the clock of the gateway, and no later one', async () => {
  const { say, call, vibrated, results } = open();
  const gatewayTime = 1_000_000; // far from the device's own
  say('ready', { server_time: gatewayTime });
  await vi.advanceTimersByTimeAsync(30_000);
  call('in time', gatewayTime + 60_000);
  await vi.advanceTimersByTimeAsync(60_000);
  call('late', gatewayTime + 60_000);
  await vi.advanceTimersByTimeAsync(0);
  expect(vibrated).toEqual([9]);
  expect(results).toEqual([
    { rpc_id: 'in time', ok: true, result: { done: true } },
    { rpc_id: 'late', ok: false, error: 'The call arrived too late.' },
  ]);
});
