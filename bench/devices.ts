import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Instance } from '@svc/contract/instance.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor } from '@svc/testing/house.ts';
import { usageOf } from './process-usage.ts';
import { stampsIn } from './stamp.ts';

/**
 * Devices that are connected to one gateway, each with its stream and its control link, while some of them stream: memory of the gateway and of the core for
 * each device, the time of a frame from the engine to the device, and whether each frame came. `node bench/devices.ts [--devices 1000] [--streaming 50]
 * [--frames 100] [--gap 100]`.
 */
const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000' },
    streaming: { type: 'string', default: '50' },
    frames: { type: 'string', default: '100' },
    gap: { type: 'string', default: '100' },
  },
});
const [devices, streaming, frames] = [Number(values.devices), Number(values.streaming), Number(values.frames)];
const tokenOf = (n: number) => `svcd_token-of-the-benchmark-${String(n).padStart(6, '0')}`;
const now = () => (performance.timeOrigin + performance.now()) % 1e6;

const house = await openHouse({
  env: {
    SVC_OFFLINE_SCRIPT: path.join(import.meta.dirname, 'stamping-engine.ts'),
    SVC_MAX_CONCURRENT_TURNS: '128',
    SVC_LOG_LEVEL: 'warn',
  },
});
const sockets: Socket[] = [];
try {
  const [port = 0] = await freePorts(1);
  const wanted = { type: 'device', name: 'devices', config: { http_port: port }, enabled: true };
  await house.post(`${house.urls.manager}/instances`, wanted);
  const look = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/device`)).instance;
  await waitFor(
    async () => (await look()).status === 'running',
    60_000,
    () => 'the gateway does not run',
  );
  const instance = await look();
  const keys = Array.from({ length: devices }, (_, n) => ({ token: tokenOf(n), identity: `d${n}`, username: `Device ${n}` }));
  writeFileSync(path.join(house.folder, 'instances/device/keys.json'), JSON.stringify({ keys }), { mode: 0o600 });
  for (const { identity } of keys)
    await house.post(`${house.urls.core}/trust/principals/owner/identifiers`, { surface: 'device', value: identity });
  await sleep(1500); // the file is looked at again after a second
  const memory = () => ({ gateway: usageOf([instance.pid ?? 0]).rssMb, core: usageOf([house.pidOf('core')]).rssMb });

  const base = `http://127.0.0.1:${port}`;
  const said = (n: number, text: string) =>
    requestJson(`${base}/gw/turn`, {
      method: 'POST',
      token: new Secret(tokenOf(n)),
      body: { text, message_id: `m-${text}` },
      timeoutMs: 60_000,
    });
  // Each has a conversation to read.
  for (let n = 0; n < devices; n += 100)
    await Promise.all(Array.from({ length: Math.min(100, devices - n) }, (_, index) => said(n + index, '1 0')));
  const before = memory();
  const streams: Reader[] = [];
  for (let n = 0; n < devices; n++) {
    streams.push(await open(port, '/gw/stream', n));
    await open(port, '/gw/control', n);
  }
  const after = memory();
  const kb = (from: number, to: number) => (((to - from) * 1024) / devices).toFixed(1);
  print(`${devices} devices, 2 links each: gateway ${before.gateway.toFixed(0)} to ${after.gateway.toFixed(0)} MB resident,`);
  print(`${kb(before.gateway, after.gateway)} KB a device; core ${kb(before.core, after.core)} KB a device`);

  const busy = streams.slice(0, streaming);
  for (const reader of busy) reader.stamps.length = 0;
  const cpu = usageOf([instance.pid ?? 0]).cpuMs;
  const accepted = await Promise.all(busy.map((_, n) => said(n, `${frames} ${values.gap}`)));
  await Promise.all(busy.map((reader) => reader.ended(frames)));
  const delays = busy.flatMap(({ stamps }) => stamps.map(({ delay }) => delay)).toSorted((a, b) => a - b);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))]?.toFixed(1);
  const isWhole = busy.every(
    ({ stamps }) => stamps.length === frames && stamps.every(({ made }, n) => n === 0 || made > stamps[n - 1]!.made),
  );
  print(
    `${streaming} streaming ${frames} deltas ${values.gap} ms apart: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms from the engine to the device;`,
  );
  print(
    `${accepted.filter(({ status }) => status === 202).length} accepted, all deltas there once and in order: ${isWhole ? 'yes' : 'NO'}; gateway ${(usageOf([instance.pid ?? 0]).cpuMs - cpu).toFixed(0)} ms CPU`,
  );
  print(`still open: ${sockets.filter((socket) => !socket.destroyed).length} of ${2 * devices} links`);
} finally {
  for (const socket of sockets) socket.destroy();
  await house.stop();
}

type Reader = { stamps: { made: number; delay: number }[]; ended(count: number): Promise<void> };

/** Reads the stamps of a stream as they come. */
async function open(port: number, where: string, n: number): Promise<Reader> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${where} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${tokenOf(n)}\r\n\r\n`);
  const stamps: Reader['stamps'] = [];
  const done = Promise.withResolvers<void>();
  let wanted = Infinity;
  let rest = '';
  const first = once(socket, 'data');
  socket.on('data', (text) => {
    rest += String(text);
    const end = rest.lastIndexOf('\n') + 1;
    for (const line of rest.slice(0, end).split('\n')) {
      if (!line.includes('"type":"delta"')) continue;
      for (const made of stampsIn(line)) stamps.push({ made, delay: now() - made });
    }
    rest = rest.slice(end);
    if (stamps.length >= wanted) done.resolve();
  });
  const [head] = (await first) as [string];
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`${where}: ${head.slice(0, 300)}`);
  return {
    stamps,
    ended(count) {
      wanted = count;
      if (stamps.length >= wanted) done.resolve();
      setTimeout(() => done.resolve(), 60_000).unref();
      return done.promise;
    },
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
